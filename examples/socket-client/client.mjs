// Talks to an agent of the sandbox by text, in a terminal:
//   node client.mjs http://127.0.0.1:4010 agent_reminders
// Needs the package ws (npm install ws), since Node 20 has no WebSocket of its own.
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';

const [service = 'http://127.0.0.1:4010', agentId = 'agent_reminders'] = process.argv.slice(2);

// This request belongs on a server: the key must never be in a browser. The address that it gives may be.
const response = await fetch(`${service}/v1/convai/conversation/get-signed-url?agent_id=${agentId}`, {
  headers: { 'x-api-key': process.env.SVC_API_KEY ?? 'sk_sandbox_ok' },
});
if (!response.ok) {
  console.error(`No address: ${response.status} ${await response.text()}`);
  process.exit(1);
}
const { signed_url: url } = await response.json();

const socket = new WebSocket(url, 'convai');
const send = (message) => socket.send(JSON.stringify(message));

socket.on('open', () =>
  send({
    type: 'conversation_initiation_client_data',
    conversation_config_override: { conversation: { text_only: true } },
    source_info: { source: 'socket-client', version: '1' },
  }),
);
socket.on('message', (data) => {
  const event = JSON.parse(String(data));
  switch (event.type) {
    case 'conversation_initiation_metadata':
      console.log(`(${event.conversation_initiation_metadata_event.conversation_id})`);
      break;
    case 'ping':
      send({ type: 'pong', event_id: event.ping_event.event_id });
      break;
    case 'agent_response':
      console.log(`agent: ${event.agent_response_event.agent_response}`);
      break;
    case 'client_tool_call': {
      const { tool_name: name, tool_call_id: id, parameters } = event.client_tool_call;
      console.log(`(the agent uses ${name} with ${JSON.stringify(parameters)})`);
      send({ type: 'client_tool_result', tool_call_id: id, result: 'done', is_error: false });
      break;
    }
    case 'error':
      console.error(`error: ${event.error_event.message}`);
      break;
  }
});

const lines = createInterface({ input: process.stdin });
lines.on('line', (text) => {
  if (text.trim() !== '' && socket.readyState === WebSocket.OPEN) send({ type: 'user_message', text });
});
lines.on('close', () => socket.close(1000));
socket.on('close', (code, reason) => {
  console.log(`(over: ${code} ${reason})`);
  lines.close();
});
socket.on('error', (error) => console.error(`error: ${error.message}`));
