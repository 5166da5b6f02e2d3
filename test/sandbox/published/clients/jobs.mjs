// The main jobs of the published client for TypeScript, against the address and with the key that it is given. Prints what came of each.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

const [, , home, baseUrl] = process.argv;
const { ElevenLabsClient } = createRequire(`${home}/`)('@elevenlabs/elevenlabs-js');
const client = new ElevenLabsClient({ baseUrl, apiKey: 'sk_sandbox_ok' });
const { agents, phoneNumbers, batchCalls, conversations, twilio, knowledgeBase } = client.conversationalAi;
const done = {};

async function until(read, isDone) {
  for (const last = Date.now() + 30_000; ;) {
    const value = await read();
    if (isDone(value)) return value;
    if (Date.now() > last) throw new Error(`still ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const events = [];
const receiver = createServer((request, response) => {
  let body = '';
  request.on('data', (piece) => (body += piece));
  request.on('end', () => {
    events.push({ body, signature: request.headers['svc-signature'] });
    response.end();
  });
});
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const secret = 'whsec_of_the_published_clients';
const url = `http://127.0.0.1:${receiver.address().port}/`;
await fetch(`${baseUrl}/_sandbox/webhooks`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ url, secret, events: ['post_call_transcription'] }),
});

const { agentId } = await agents.create({
  name: 'Made by a client',
  conversationConfig: { agent: { firstMessage: 'Hello {{name}}.', language: 'en', prompt: { prompt: 'Be brief.', temperature: 0.2 } } },
  platformSettings: { overrides: { conversationConfigOverride: { agent: { firstMessage: true } } } },
});
await agents.update(agentId, { name: 'Changed by a client' });
const agent = await agents.get(agentId);
const listed = await agents.list({ search: 'Changed by' });
done.agents = [agent.name, agent.conversationConfig.agent.firstMessage, listed.agents.map((each) => each.name)];

const { phoneNumberId } = await phoneNumbers.create({
  provider: 'twilio',
  phoneNumber: '+12025550110',
  label: 'Client',
  sid: 'AC1',
  token: 'secret',
});
await phoneNumbers.update(phoneNumberId, { agentId });
const number = await phoneNumbers.get(phoneNumberId);
const numbers = await phoneNumbers.list();
done.numbers = [number.phoneNumber, number.assignedAgent?.agentId === agentId, numbers.length];

const batch = await batchCalls.create({
  callName: 'By a client',
  agentId,
  agentPhoneNumberId: phoneNumberId,
  recipients: ['0100', '0101'].map((ending) => ({
    id: `ref:${ending}`,
    phoneNumber: `+1212555${ending}`,
    conversationInitiationClientData: {
      userId: `user ${ending}`,
      dynamicVariables: { name: 'Robin', carillon_ref: `ledger:a/${ending}/1` },
      conversationConfigOverride: { agent: { firstMessage: 'Good day, {{name}}.' } },
    },
  })),
  targetConcurrencyLimit: 2,
});
const report = await until(
  () => batchCalls.get(batch.id),
  ({ status }) => status === 'completed',
);
const inWorkspace = await batchCalls.list({ agentId });
done.batches = [batch.name, report.recipients.map(({ id, status }) => `${id} ${status}`), inWorkspace.batchCalls.length];

const later = await batchCalls.create({
  callName: 'Later',
  agentId,
  agentPhoneNumberId: phoneNumberId,
  recipients: [{ id: 'late', phoneNumber: '+12125550130' }],
  scheduledTimeUnix: batch.createdAtUnix + 30 * 86_400,
});
const cancelled = await batchCalls.cancel(later.id);
const { recipients } = await batchCalls.get(later.id);
await batchCalls.delete(later.id);
done.cancelled = [later.status, cancelled.status, recipients[0].status, (await batchCalls.list({})).batchCalls.length];

// A failure after the work: the client repeats the request by itself, and nothing at the service tells that the two are one.
await fetch(`${baseUrl}/_sandbox/faults`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ operation: 'batch_calls', times: 1, effect: { type: 'error', status: 500, when: 'after' } }),
});
await batchCalls.create({
  callName: 'Carried out, then a failure',
  agentId,
  agentPhoneNumberId: phoneNumberId,
  recipients: [{ phoneNumber: '+12125550130' }],
  scheduledTimeUnix: batch.createdAtUnix + 30 * 86_400,
});
const { batchCalls: all } = await batchCalls.list({ agentId });
done.doubled = all.filter(({ name }) => name === 'Carried out, then a failure').length;

const found = await conversations.list({ agentId, dynamicVariableParams: 'carillon_ref:eq:ledger:a/0100/1', pageSize: 5 });
const ofUser = await conversations.list({ userId: 'user 0101', callDurationMaxSecs: 0 });
const [{ conversationId }] = found.conversations;
const record = await until(
  () => conversations.get(conversationId),
  ({ status }) => status === 'done',
);
const audio = await conversations.audio.get(conversationId);
let bytes = 0;
for await (const piece of audio) bytes += piece.length;
done.conversations = [
  found.conversations.length,
  ofUser.conversations.length,
  record.metadata.batchCall.batchCallRecipientId,
  record.metadata.phoneCall.callResult,
  record.transcript[0].message,
  bytes > 1_000,
];

const { signedUrl } = await conversations.getSignedUrl({ agentId });
const { token } = await conversations.getWebrtcToken({ agentId });
done.credentials = [new URL(signedUrl).searchParams.has('conversation_signature'), token.split('.').length];

const single = await twilio.outboundCall({
  agentId,
  agentPhoneNumberId: phoneNumberId,
  toNumber: '+12125550103',
  conversationInitiationClientData: { dynamicVariables: { name: 'Robin' } },
});
const call = await until(
  () => conversations.get(single.conversationId),
  ({ status }) => status === 'done',
);
done.single = [single.success, call.metadata.phoneCall.externalNumber, call.metadata.phoneCall.callResult];

const [event] = await until(
  () => events,
  ({ length }) => length > 0,
);
const told = await client.webhooks.constructEvent(event.body, event.signature, secret);
const forged = await client.webhooks.constructEvent(`${event.body} `, event.signature, secret).then(
  () => 'accepted',
  () => 'refused',
);
done.webhooks = [told.type, 'conversation_id' in told.data, forged];

done.not_built = await knowledgeBase.list().catch((error) => [error.statusCode, error.body.detail.code]);
const stranger = new ElevenLabsClient({ baseUrl, apiKey: 'sk_wrong' });
done.unauthorized = await stranger.conversationalAi.agents.list().catch((error) => [error.statusCode, error.body.detail.status]);
await conversations.delete(conversationId);
await phoneNumbers.delete(phoneNumberId);
await agents.delete(agentId);
done.deleted = await agents.get(agentId).catch((error) => error.statusCode);

receiver.close();
process.stdout.write(JSON.stringify(done));
