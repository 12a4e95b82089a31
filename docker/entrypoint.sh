#!/bin/sh
# In a container the daemon listens on all addresses, so authentication is always on: the first run creates the token
# of the agent `main` and stores it in the data volume.
set -eu
umask 077
token="$COWORK_STATE_DIR/agents/main.token"
if [ ! -s "$token" ]; then
  mkdir -p "$COWORK_STATE_DIR/agents"
  node bin/cowork.mjs --json agents token | node -e '
    let text = ""
    process.stdin.on("data", (chunk) => (text += chunk)).on("end", () => console.log(JSON.parse(text).token))
  ' > "$token"
  echo "The token of the agent main is in $token." >&2
fi
COWORK_TOKEN=$(cat "$token")
export COWORK_TOKEN
config=/app/config/cowork.yaml
[ -f "$config" ] || config=docker/cowork.yaml
exec node bin/cowork.mjs --config "$config" up
