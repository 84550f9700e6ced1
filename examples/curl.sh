#!/bin/sh
# The HTTP API with curl: what one session says, the next one knows.
# sh examples/curl.sh against a server that runs (npm start); MAITRED_URL is another address.
set -eu

url=${MAITRED_URL:-http://127.0.0.1:3000}
user=${MAITRED_USER:-ada}

# In AUTH_MODE=local the header says who asks; elsewhere it is "Authorization: Bearer …".
ask() {
  method=$1 path=$2
  shift 2
  curl --silent --show-error --fail-with-body --request "$method" "$url$path" \
    --header "X-User-Id: $user" --header "Content-Type: application/json" "$@"
}

first=$(ask POST /v1/chat --data '{ "message": "I prefer jazz concerts, and I need step-free access." }')
# With jq: jq -r .session_id
session=$(printf '%s' "$first" | grep -o '"session_id":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
echo "First session:  $session"

# What is said is read for memories after the answer: this waits for it, which only an example has to.
ask POST "/v1/sessions/$session/flush" >/dev/null

second=$(ask POST /v1/chat --data '{ "message": "Anything good this weekend?" }')
echo "Second session: $second"

# The same as it comes, as server-sent events.
ask POST /v1/chat --no-buffer --data '{ "message": "Thank you.", "stream": true }'

ask POST /v1/memories/search --data '{ "query": "jazz" }' | grep -q jazz
case $second in
*jazz*step-free* | *step-free*jazz*) echo "The second session knew what the first was told." ;;
*) echo "The second session knew nothing." >&2 && exit 1 ;;
esac
