import { once } from 'node:events';
import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { fetch } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import type { SandboxOptions } from '../../../src/sandbox/core/settings/settings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { createModelAgent, interviewer, secret, startModelServer } from '../llm/model-server.ts';
import { imported, noon, plainNumbers, startTestSandbox, type Json, type TestSandbox } from '../harness.ts';
import { spawnModule } from '../spawned.ts';

const dataPath = (): string => join(temporaryFolder(), 'sandbox.state');

async function open(data: string, options: SandboxOptions = {}): Promise<TestSandbox> {
  return startTestSandbox({ clock: 'manual', epochMs: noon, data, ...options });
}

async function readAll(sandbox: TestSandbox): Promise<Json> {
  const body = await sandbox.read('/_sandbox/export');
  const { conversations } = await sandbox.read('/v1/convai/conversations?page_size=100');
  const records = [];
  for (const { conversation_id: id } of conversations) {
    const record = await sandbox.read(`/v1/convai/conversations/${id}`);
    records.push({ ...record, audio: record.audio !== null });
  }
  return { ...body, records, calls: sandbox.calls() };
}

async function fill(sandbox: TestSandbox): Promise<void> {
  await sandbox.batch(['+12125550100', '+12125550101', '+12125550103', '+12125550108', ...plainNumbers(20)]);
  await sandbox.post('/v1/convai/agents', { name: 'Kept' });
  await sandbox.delete('/v1/convai/agents/agent_survey');
  await sandbox.post('/v1/convai/phone-numbers', imported);
  await sandbox.submit(plainNumbers(3), { scheduled_time_unix: noon / 1000 + 1_800 });
  await sandbox.post('/_sandbox/numbers/next-course', { to: '+12125550102', result: 'answered' });
  await sandbox.post('/_sandbox/inbound', { number: '+12125550199', from: '+12125550150' });
  await sandbox.advance(20_000);
  const { conversations } = await sandbox.read('/v1/convai/conversations');
  await sandbox.delete(`/v1/convai/conversations/${conversations[0].conversation_id}`);
}

test('a sandbox that is stopped and started again goes on where it was', async () => {
  const path = dataPath();
  const options = { concurrency: 6, faults: [{ operation: 14, nth: 4, effect: { type: 'rate_limited' } }] } as SandboxOptions;
  const [whole, halves] = [await startTestSandbox({ clock: 'manual', epochMs: noon, ...options }), await open(path, options)];
  for (const sandbox of [whole, halves]) await fill(sandbox);
  const before = await readAll(halves);
  await halves.close();
  const again = await open(path, options);
  const strip = ({ calls, ...rest }: Json): Json => ({ ...rest, calls: calls.map((call: Json) => ({ ...call, realAcceptedAt: 0 })) });
  expect(strip(await readAll(again))).toEqual(strip(before));
  for (const sandbox of [whole, again]) {
    await sandbox.batch(['+12125550101', '+12125550102']);
    await sandbox.advance(3_600_000);
  }
  expect(strip(await readAll(again))).toEqual(strip(await readAll(whole)));
  expect((await again.batch(['+12125550104'])).status).toBe(429);
});

test('a reset and a restored snapshot are kept too', async () => {
  const path = dataPath();
  const first = await open(path);
  await first.batch(['+12125550100']);
  const { body: snapshot } = await first.post('/_sandbox/snapshots');
  await first.post('/_sandbox/reset');
  await first.close();
  const second = await open(path);
  expect(second.calls()).toEqual([]);
  await second.batch(['+12125550101']);
  await second.close();
  expect(snapshot.calls).toBe(1);
  expect((await open(path)).calls()).toHaveLength(1);
});

test('what was answered is kept, even if the process is killed the moment after, and no other opens its file meanwhile', async () => {
  const path = dataPath();
  const script = `
    import { startSandbox } from './src/sandbox/start.ts';
    const sandbox = await startSandbox({ data: ${JSON.stringify(path)}, seed: 'killed' });
    process.stdout.write(sandbox.url);
  `;
  const names: string[] = [];
  const raced: string[] = [];
  for (let life = 0; life < 2; life += 1) {
    const { child, said: url } = await spawnModule(script);
    expect(await refusal(path)).toContain('is in use by another sandbox');
    const send = (path: string, body: unknown) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'x-api-key': 'sk_sandbox_ok', 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    for (let nth = 0; nth < 5; nth += 1) {
      names.push(`Agent ${life}.${nth}`);
      expect((await send('/v1/convai/agents', { name: names.at(-1) })).status).toBe(200);
    }
    const batch = { agent_id: 'agent_survey', from_phone_number_id: 'pn_main', calls: [{ to_phone_number: '+12125550101' }] };
    // The process ends among these: some are answered, some are not, and a line may be half written.
    const racing = Array.from({ length: 40 }, async (_, nth) => {
      const name = `Racing ${life}.${nth}`;
      if ((await send('/v1/convai/agents', { name })).status === 200) raced.push(name);
    });
    const answer = await send('/v1/convai/phone-numbers/batch-calls', batch);
    await Promise.any(racing);
    child.kill('SIGKILL');
    expect(answer.status).toBe(200);
    await Promise.allSettled(racing);
    await once(child, 'exit');
  }
  const sandbox = await startTestSandbox({ clock: 'manual', data: path, seed: 'killed' });
  const { agents } = await sandbox.read('/v1/convai/agents?page_size=100');
  const kept: string[] = agents.map(({ name }: Json) => name).toReversed();
  expect(kept.filter((name) => name.startsWith('Agent'))).toEqual(names);
  expect(kept).toEqual(expect.arrayContaining(raced));
  expect(sandbox.calls().map(({ nth }) => nth)).toEqual([1, 2]);
});

test('the service time of the file is never gone back behind', async () => {
  const path = dataPath();
  const first = await open(path);
  await first.advance(86_400_000);
  await first.close();
  const manual = await open(path);
  expect((await manual.get('/_sandbox/clock')).body.now_ms).toBe(noon + 86_400_000);
  await manual.close();
  const running = await startSandbox({ data: path, seed: 'test', epochMs: noon });
  onTestFinished(() => running.close());
  expect(running.clock.now()).toBeGreaterThanOrEqual(noon + 86_400_000);
});

test('time that passes by itself is not gone back behind after a sudden end', async () => {
  const path = dataPath();
  const speed = 36_000;
  const running = await startSandbox({ data: path, seed: 'test', epochMs: noon, speed });
  onTestFinished(() => running.close());
  const whole = await readFile(path, 'utf8');
  const stored = JSON.parse(whole.slice(whole.indexOf('\n'))) as { now: number; written_at: number };
  const notedAt = await until('the time was noted beside the file', async () => {
    const { mtimeMs } = await stat(`${path}.lock`);
    return mtimeMs > stored.written_at + 3_000 && mtimeMs;
  });
  const copy = dataPath();
  await writeFile(copy, whole);
  await writeFile(`${copy}.lock`, '');
  await utimes(`${copy}.lock`, notedAt / 1000, notedAt / 1000);
  const again = await open(copy);
  expect((await again.read('/_sandbox/clock')).now_ms).toBeGreaterThan(stored.now + (notedAt - stored.written_at) * speed);
});

test('the file is for its owner alone, and holds no token of a provider', async () => {
  const path = dataPath();
  const sandbox = await open(path);
  await fill(sandbox);
  await sandbox.close();
  const text = await readFile(path, 'utf8');
  expect(text).toContain('+13135550101');
  expect(text).not.toContain('provider-token-in-clear');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('a header value for an own model is there again after a restart', async () => {
  const path = dataPath();
  const first = await open(path);
  const model = await startModelServer(interviewer);
  const agentId = await createModelAgent(first, model.url);
  await first.close();
  const second = await open(path);
  await second.batch(['+12125550100'], { agent_id: agentId });
  await second.advance(3_600_000);
  expect(model.requests[0]?.headers.authorization).toBe(secret);
});

async function refusal(data: string, options: SandboxOptions = {}): Promise<string> {
  try {
    await (await startSandbox({ data, seed: 'test', ...options })).close();
  } catch (error) {
    expect(error).toMatchObject({ name: 'SandboxStartError' });
    return (error as Error).message;
  }
  throw new Error('the sandbox started');
}

async function expectLeft(path: string, bytes: Buffer | string, says: RegExp): Promise<void> {
  await writeFile(path, bytes);
  expect(await refusal(path)).toMatch(says);
  expect(await readFile(path)).toEqual(Buffer.from(bytes));
}

async function databaseWith(...statements: string[]): Promise<Buffer> {
  const path = dataPath();
  const database = new Database(path);
  for (const statement of statements) database.exec(statement);
  database.close();
  return readFile(path);
}

test('a file that is not ours, of an earlier release or of a newer format is refused with what to do, and left as it is', async () => {
  const path = dataPath();
  const notOurs = /is not a data file of the sandbox/;
  await expectLeft(path, 'notes of somebody else, long enough to be something of value to them and more', notOurs);
  await expectLeft(path, await databaseWith('CREATE TABLE theirs (id INTEGER)'), notOurs);
  const older = await databaseWith(
    'PRAGMA application_id=1128354377',
    'CREATE TABLE entity (kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL)',
  );
  for (const before of [older, `{"format":"carillon-sandbox-data","version":2,"key":"AAAAAAAAAAAAAAAAAAAAAA"}\nAAAA\n`])
    await expectLeft(path, before, /made by an earlier release.*left as it is.*_sandbox\/export.*_sandbox\/import/);
  await rm(path);
  await (await open(path)).close();
  expect(await refusal(path, { seed: 'other' })).toContain('made with the seed "test"');
  const newer = (await readFile(path, 'utf8')).replace('"version":4', '"version":99');
  await expectLeft(path, newer, /is of format 99; this sandbox reads format 4\. It is left as it is/);
  expect(await refusal(join(dataPath(), 'missing', 'sandbox.db'))).toContain('Its folder has to exist');
});

test('what was being written when the process ended is left out, and the state goes on without it', async () => {
  const path = dataPath();
  const first = await open(path);
  await first.batch(['+12125550101', '+12125550102']);
  const calls = first.calls();
  await first.close();
  await writeFile(`${path}.new`, (await readFile(path)).subarray(0, -10));
  const again = await open(path);
  expect(again.calls()).toEqual(calls);
  await again.batch(['+12125550103']);
  await again.close();
  expect((await open(path)).calls()).toHaveLength(3);
});

test('a file whose end is missing is refused and left as it is, and one of the version before is read', async () => {
  const path = dataPath();
  const first = await open(path);
  for (const number of ['+12125550101', '+12125550102', '+12125550103']) await first.batch([number]);
  await first.close();
  const whole = await readFile(path, 'utf8');
  await expectLeft(path, whole.slice(0, -10), /is damaged. It is left as it is/);
  await writeFile(path, whole.replace('"version":4}', '"version":3,"sha256":"of the state"}'));
  expect((await open(path)).calls()).toHaveLength(3);
});

test('a start that fails lets go of the file', async () => {
  const path = dataPath();
  const sandbox = await open(path);
  await sandbox.close();
  const other = await startTestSandbox();
  expect(await refusal(path, { port: other.port })).toContain('in use by another sandbox');
  await (await open(path)).close();
});

test('fault rules of the file count on where the start gives the same, and give way to others', async () => {
  const path = dataPath();
  const faults = [{ id: 'third', operation: 2, nth: 3, effect: { type: 'rate_limited' } }] as SandboxOptions['faults'] & {};
  const ask = async (sandbox: TestSandbox): Promise<number> => (await sandbox.get('/v1/convai/agents')).status;
  const first = await open(path, { faults });
  expect([await ask(first), await ask(first)]).toEqual([200, 200]);
  await first.batch(['+12125550101']);
  await first.close();
  const second = await open(path, { faults });
  expect([await ask(second), await ask(second)]).toEqual([429, 200]);
  await second.close();
  expect((await (await open(path)).get('/_sandbox/faults')).body.faults).toEqual([]);
});
