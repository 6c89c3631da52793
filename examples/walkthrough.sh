#!/bin/bash
# From nothing to a handled incident, in one minute, without any sender: what each of the four would send is in this
# folder. Run it from the checkout: examples/walkthrough.sh
set -euo pipefail
cd "$(dirname "$0")/.."
incmon=${INCMON:-npm run -s incmon --}
work=$(mktemp -d)
server=
finish() {
  # The whole group: npm does not pass a signal on to what it started.
  if [ -n "$server" ]; then kill -- "-$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap finish EXIT

say() { printf '\n== %s\n' "$*"; }
get() { curl -sS --fail-with-body -H "Authorization: Bearer $token" "$url$1"; echo; }
send() { moved "examples/$4" | curl -sS --fail-with-body -H "$2: $3" --data-binary @- "$url/api/webhooks/$1"; echo; }
write() { curl -sS --fail-with-body -X "$1" -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -d "$3" "$url$2"; echo; }
first() { sed -n 's/^[^{]*{"id":"\([0-9a-f-]*\)".*/\1/p' | head -n 1; }

# The payloads happened on 20 November around 09:37; here they happen just now.
shift=$(($(date -u +%s) - $(date -u -d '2026-11-20 09:37:00' +%s)))
moved() {
  local edits='' time
  for time in $(grep -oE '2026-11-20[T ][0-9:]{8}' "$1" | tr ' ' T | sort -u); do
    edits+="s/${time/T/[T ]}/$(date -u -d "@$(($(date -u -d "${time/T/ }" +%s) + shift))" '+%FT%T')/g;"
  done
  # GitLab writes its times with a blank and a zone.
  sed -E "$edits; s/([0-9-]{10})T([0-9:]{8}) UTC/\\1 \\2 UTC/g" "$1"
}

say 'Start: one process, one file'
: >"$work/log"
set -m
$incmon serve --database "$work/incmon.db" --port 0 >"$work/log" 2>&1 &
server=$!
set +m
for _ in $(seq 1000); do
  url=$(sed -n 's/^incmon listens on \(http[^ ]*\).*/\1/p' "$work/log")
  [ -n "$url" ] && break
  kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
  sleep 0.1
done
[ -n "$url" ] || { cat "$work/log" >&2; exit 1; }
echo "$url"

say 'An organization of our own, and a token that counts at once'
$incmon org create Shop --plan Team --database "$work/incmon.db"
token=$($incmon token create --org Shop --name walkthrough --scopes ingest,read,write --database "$work/incmon.db" --json |
  sed -n 's/.*"token": *"\([^"]*\)".*/\1/p')

say 'A deploy fails, its pods crash, Alertmanager and Grafana notice'
send ci X-Gitlab-Token "$token" gitlab-pipeline.json
send cluster Authorization "Bearer $token" cluster-event.json
send metrics Authorization "Bearer $token" alertmanager-notification.json
send dashboard Authorization "Bearer $token" grafana-notification.json

say 'All four speak of one service'
get /api/services

say 'Its alerts: one for each condition'
get '/api/alerts?limit=10'

say 'An incident has opened by itself'
incidents=$(get /api/incidents)
echo "$incidents"
incident=$(printf '%s' "$incidents" | sed 's/^{"data":\[//' | first)

say 'What may have caused it'
get "/api/incidents/$incident/suspects"

say 'Somebody takes it, leaves a note, and resolves it'
write PATCH "/api/incidents/$incident" '{"status":"investigating"}'
write POST "/api/incidents/$incident/notes" '{"text":"rolled back to the previous release"}'
write PATCH "/api/incidents/$incident" '{"status":"resolved"}'

say 'The postmortem, written from the record'
curl -sS --fail-with-body -H "Authorization: Bearer $token" -H 'Accept: text/markdown' "$url/api/incidents/$incident/postmortem"

say 'Done'
