#!/bin/sh
# Adds the incmon webhook to a GitLab project, as you could under Settings > Webhooks.
#   GITLAB_URL=https://gitlab.example.com GITLAB_TOKEN=… INCMON_URL=https://incmon.example.com INCMON_TOKEN=… \
#     ./gitlab-webhook.sh group/project
# GitLab sends the token in the X-Gitlab-Token header.
set -eu
project=${1:?usage: gitlab-webhook.sh GROUP/PROJECT}
: "${GITLAB_URL:?set GITLAB_URL}" "${GITLAB_TOKEN:?set GITLAB_TOKEN}"
: "${INCMON_URL:?set INCMON_URL}" "${INCMON_TOKEN:?set INCMON_TOKEN}"

curl --fail-with-body --silent --show-error \
  --request POST "$GITLAB_URL/api/v4/projects/$(printf %s "$project" | sed 's#/#%2F#g')/hooks" \
  --header "PRIVATE-TOKEN: $GITLAB_TOKEN" \
  --data-urlencode "url=$INCMON_URL/api/webhooks/ci" \
  --data-urlencode "token=$INCMON_TOKEN" \
  --data "pipeline_events=true" \
  --data "job_events=true" \
  --data "push_events=false"
