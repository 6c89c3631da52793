#!/bin/bash
# Demonstrates incmon in about a minute with the sample payloads of four senders in this directory.
# Run it from the checkout: examples/walkthrough.sh
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/.."
work=$(mktemp -d)
database=$work/incmon.db
server=

incmon() { ${INCMON:-npm run -s incmon --} "$@" --database "$database"; }
step() { printf '\n== %s\n' "$*"; }
# Prints a command as a user would type it, runs it, and prints the first lines of its output: show LINES COMMAND
show() {
  local lines=$1 output
  shift
  if [ "$1" = causes ]; then echo "$ incmon incident show $2 | grep -A 2 SUSPECTS"; else printf '$ %s\n' "$*"; fi
  output=$("$@")
  # head would close the pipe while sed is still writing.
  printf '%s\n' "$output" | sed -nE "s/^(.{117}).{4,}/\1…/; 1,${lines}p"
  [ "$(printf '%s\n' "$output" | wc -l)" -le "$lines" ] || echo '…'
}

causes() { incmon incident show "$1" | grep -A 2 SUSPECTS; }

finish() {
  # npm does not forward signals, so stop the whole process group.
  if [ -n "$server" ]; then kill -- "-$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap finish EXIT

start_server() {
  : >"$work/log"
  set -m
  incmon serve --port 0 >"$work/log" 2>&1 &
  server=$!
  set +m
  for _ in $(seq 1000); do
    url=$(sed -n 's/^incmon listens on \(http[^ ]*\).*/\1/p' "$work/log")
    [ -z "$url" ] || return 0
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  cat "$work/log" >&2
  exit 1
}

# Sends a payload from this directory: send WEBHOOK HEADER FILE
# The payloads contain no times, so incmon uses the time of receipt.
send() {
  echo "$ curl $url/api/webhooks/$1 --data @examples/$3"
  curl -sS --fail-with-body -H "$2" --data-binary "@examples/$3" "$url/api/webhooks/$1" >/dev/null
}

step '1. Start a server with an empty database'
start_server
echo "The server listens on $url."

step '2. Create a token for the senders'
echo '$ incmon token create --name senders --scopes ingest'
token=$(incmon token create --name senders --scopes ingest)

step '3. A deploy fails, a pod crashes, and Alertmanager and Grafana send alerts'
send ci "X-Gitlab-Token: $token" gitlab-pipeline.json
send cluster "Authorization: Bearer $token" cluster-event.json
send metrics "Authorization: Bearer $token" alertmanager-notification.json
send dashboard "Authorization: Bearer $token" grafana-notification.json

step '4. All four reports belong to one service'
show 2 incmon service list

step '5. Each condition is one alert'
show 5 incmon alert list

step '6. An incident has opened'
show 2 incmon incident list

step '7. incmon ranks the probable causes of the incident'
show 3 causes 1

step '8. A user acknowledges the incident, adds a note and resolves it'
show 1 incmon incident ack 1
show 1 incmon incident note 1 'rolled back to the previous release'
show 3 incmon incident resolve 1

step '9. incmon has generated a postmortem'
show 10 incmon incident postmortem 1

step 'Done. The server stops, and its database is deleted.'
