import { fetch } from 'undici';
import { expect, test, vi } from 'vitest';
import { runSandbox, type SandboxFlags } from '../../../src/cli/sandbox/sandbox.ts';
import { startTestSandbox, type Json } from '../harness.ts';
import { patienceMs } from '../../support/until.ts';

const headers = { 'x-api-key': 'sk_sandbox_ok', 'content-type': 'application/json' };
const body = JSON.stringify({
  agent_id: 'agent_reminders',
  from_phone_number_id: 'pn_main',
  calls: [{ to_phone_number: '+12125550100' }],
});

/** What tells one recording from another, of a call in a sandbox started with these flags. */
async function recordedBy(flags: SandboxFlags): Promise<string | null> {
  const stopping = new AbortController();
  const written: string[] = [];
  const running = runSandbox(
    { port: '0', seed: 'test', speed: '10000', json: true, ...flags },
    { stdout: { write: (text) => written.push(text) }, stderr: { write: () => true }, stop: stopping.signal },
  );
  await expect.poll(() => written.length).toBe(1);
  const { url } = JSON.parse(written[0] ?? '{}');
  await fetch(`${url}/v1/convai/phone-numbers/batch-calls`, { method: 'POST', headers, body });
  const record: Json = await vi.waitFor(async () => {
    const { conversations }: Json = await (await fetch(`${url}/v1/convai/conversations`, { headers })).json();
    const read: Json = await (
      await fetch(`${url}/v1/convai/conversations/${conversations[0].conversation_id}`, { headers })
    ).json();
    expect(read.audio).not.toBeNull();
    return read;
  }, patienceMs);
  const response = await fetch(record.audio, { headers });
  await response.arrayBuffer();
  stopping.abort();
  await running;
  return response.headers.get('etag');
}

test('--no-speech gives the recordings of a sandbox without voices, the default those with voices', async () => {
  const sandboxes = [false, true].map(async (speech) => {
    const sandbox = await startTestSandbox({ speech });
    await sandbox.batch(['+12125550100']);
    sandbox.clock.advance(3_600_000);
    const { audio } = (await sandbox.get(`/v1/convai/conversations/${sandbox.calls()[0]?.conversationId}`)).body;
    const response = await fetch(audio);
    await response.arrayBuffer();
    return response.headers.get('etag');
  });
  const [tones, voices] = await Promise.all(sandboxes);
  expect(tones).not.toBe(voices);
  expect(await recordedBy({ speech: false })).toBe(tones);
  expect(await recordedBy({})).toBe(voices);
});
