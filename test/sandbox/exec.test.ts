import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runExec, type ExecFlags } from '../../src/interfaces/cli/sandbox/exec.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Runs in every script: one request to the service. */
const ask = `
const ask = (path, body) => fetch(process.env.SVC_BASE_URL + path, {
  method: body ? 'POST' : 'GET',
  headers: { 'x-api-key': process.env.SVC_API_KEY, ...(body ? { 'content-type': 'application/json' } : {}) },
  body: body && JSON.stringify(body),
});
const dial = (...numbers) => ask('/v1/convai/phone-numbers/batch-calls', {
  agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', calls: numbers.map((n) => ({ to_phone_number: n })),
});
`;
const single = `await dial('+12125550150');`;
const twice = `await dial('+12125550150', '+12125550150');`;

async function execScript(script: string, flags: ExecFlags = {}): Promise<{ code: number; said: string }> {
  return execCommand([process.execPath, '--input-type=module', '-e', ask + script], flags);
}

async function execCommand(command: string[], flags: ExecFlags = {}): Promise<{ code: number; said: string }> {
  let said = '';
  const stderr = { write: (text: string) => (said += text) };
  const code = await runExec(command, flags, { stderr, stdio: 'ignore', sharesTerminal: false });
  return { code, said };
}

test('a command that uses the service well ends with its own code, and the report says so', async () => {
  const { code, said } = await execScript(`
    const { sandbox } = await (await fetch(process.env.CARILLON_SANDBOX_URL + '/_sandbox/health')).json();
    const { status } = await dial('+12125550150');
    process.exit(sandbox && status === 200 ? 0 : 9);
  `);
  expect(said).toMatch(/^conduct: ok\n/);
  expect(said).toContain('(observed 1)');
  expect(code).toBe(0);
});

test('a command that never called the service is not ok: nothing was observed, and that is a failure', async () => {
  const file = join(temporaryFolder(), 'conduct.xml');
  const controlsAlone = `await fetch(process.env.CARILLON_SANDBOX_URL + '/_sandbox/health');`;
  const { code, said } = await execScript(controlsAlone);
  expect(said).toMatch(/^conduct: NOTHING OBSERVED\n/);
  expect(said).not.toMatch(/\bok\b/);
  expect(said).toContain('error: No request came to the service, so nothing was judged.');
  expect(code).toBe(1);
  const inFile = await execScript('process.exitCode = 3;', { reportFile: file });
  expect(inFile).toMatchObject({ code: 3, said: expect.stringMatching(/^conduct: NOTHING OBSERVED; the report is in/) });
  expect(await readFile(file, 'utf8')).toMatch(/failures="1"[^]*<failure type="requests" message="nothing observed">/);
});

test.each([
  [`await ask('/v1/convai/agents');`, 0, 0],
  [`${single} process.exitCode = 3;`, 0, 3],
  [twice, 1, 1],
  [`${twice} process.exitCode = 3;`, 1, 3],
  [`${single} process.kill(process.pid, 'SIGKILL');`, 0, 137],
])('the worse code counts: %j', async (script, violations, code) => {
  const ended = await execScript(script);
  expect(ended.said).toMatch(violations === 0 ? /^conduct: ok/ : /^conduct: VIOLATIONS/);
  expect(ended.code).toBe(code);
});

test('the flags of the sandbox hold for it, calling hours are judged', async () => {
  const inLondon = { timeZone: 'Europe/London', hour: '2-digit', hourCycle: 'h23' } as const;
  const hour = Number(new Intl.DateTimeFormat('en-GB', inLondon).format(Date.now()));
  // Hours away from now, and over before midnight.
  const opens = (hour + 6) % 24 <= 20 ? (hour + 6) % 24 : 3;
  const callingHours = [opens, opens + 3].map((at) => `${String(at).padStart(2, '0')}:00`).join('-');
  const faults = join(temporaryFolder(), 'faults.json');
  await writeFile(faults, '[{"operation":2,"effect":{"type":"error","status":503}}]');
  const script = `await dial('+442079460150'); process.exitCode = (await ask('/v1/convai/agents')).status === 503 ? 0 : 9;`;
  const { code, said } = await execScript(script, { callingHours, faults });
  expect([code, said]).toEqual([1, expect.stringContaining('Europe/London')]);
});

test.each([
  ['conduct.txt', undefined, /^conduct: VIOLATIONS\n/],
  ['conduct.json', undefined, /^\{\n {2}"ok": false,/],
  ['conduct.xml', undefined, /^<\?xml[^]*<failure type="double_dial" message="1 violation">/],
  ['report', 'junit', /^<\?xml/],
])('the report is written to %s with the flag %s', async (name, report, content) => {
  const reportFile = join(temporaryFolder(), name);
  const { code, said } = await execScript(twice, { reportFile, ...(report === undefined ? {} : { report }) });
  expect([code, said]).toEqual([1, `conduct: VIOLATIONS; the report is in ${reportFile}\n`]);
  expect(await readFile(reportFile, 'utf8')).toMatch(content);
});

test('a report that cannot be written is told all the same, and fails', async () => {
  const file = join(temporaryFolder(), 'none', 'conduct.txt');
  const { code, said } = await execScript(single, { reportFile: file });
  expect(code).toBe(1);
  expect(said).toMatch(
    /^error: --report-file .* cannot be written: there is no such file; check the path\. This is the report:\nconduct: ok\n/,
  );
});

test.each<[ExecFlags, string]>([
  [{ report: 'yaml' }, '--report is "yaml"; it must be text, json, junit.'],
  [{ speed: 'fast' }, '--speed is "fast"; it must be a number.'],
  [{ callingHours: '9-17' }, 'conduct.callingHours is 9 to 17; it must be two times of day as HH:MM'],
  [{ callingHours: 'daytime' }, '--calling-hours is "daytime"; it must be two times of day, like 08:00-21:00.'],
])('with the flags %j nothing is run', async (flags, message) => {
  const folder = temporaryFolder();
  const mark = join(folder, 'mark');
  const { code, said } = await execScript(`(await import('node:fs')).writeFileSync(${JSON.stringify(mark)}, '');`, flags);
  expect([code, said]).toEqual([2, expect.stringContaining(message)]);
  await expect(readFile(mark)).rejects.toThrow('ENOENT');
});

test('a command that is not there, or may not be run, is said in a sentence', async () => {
  const file = join(temporaryFolder(), 'script');
  await writeFile(file, 'exit 0');
  await chmod(file, 0o644);
  expect(await execCommand(['no-such-program'])).toEqual({
    code: 2,
    said: 'error: The command "no-such-program" was not found. Give a program that is on the PATH, or its path, after --.\n',
  });
  const refused = await execCommand([file]);
  expect([refused.code, refused.said]).toEqual([2, expect.stringContaining('may not be run. Make it executable')]);
});

test('the command has the whole environment, with the addresses of its own sandbox', async () => {
  vi.stubEnv('DATABASE_URL', 'postgres://127.0.0.1/mine');
  vi.stubEnv('SVC_BASE_URL', 'http://127.0.0.1:1');
  vi.stubEnv('SVC_API_KEY', 'a-real-key');
  onTestFinished(() => void vi.unstubAllEnvs());
  const script = `
    const { DATABASE_URL, SVC_BASE_URL, CARILLON_SANDBOX_URL, SVC_API_KEY } = process.env;
    const right = DATABASE_URL === 'postgres://127.0.0.1/mine' && SVC_API_KEY !== 'a-real-key' && SVC_BASE_URL === CARILLON_SANDBOX_URL;
    process.exitCode = right && (await ask('/v1/convai/agents')).status === 200 ? 0 : 9;
  `;
  expect((await execScript(script)).code).toBe(0);
});

function runCommandLine(args: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/interfaces/cli/main.ts', 'sandbox', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const written = { stdout: '', stderr: '' };
  child.stdout.on('data', (piece: Buffer) => (written.stdout += String(piece)));
  child.stderr.on('data', (piece: Buffer) => (written.stderr += String(piece)));
  return { child, written };
}

test('on the command line: the output of the command is all there is on stdout, flags before exec hold, its own flags are its own', async () => {
  const script = `${ask} ${twice} console.log(process.argv.slice(1).join(' '));`;
  const program = [process.execPath, '--input-type=module', '-e', script];
  const args = ['--seed', '7', 'exec', '--report', 'json', '--', ...program, '--', '--seed', 'x'];
  const { child, written } = runCommandLine(args);
  const [code] = (await once(child, 'close')) as [number];
  expect(written.stdout).toBe('--seed x\n');
  expect(JSON.parse(written.stderr)).toMatchObject({ ok: false });
  expect(code).toBe(1);
});

test('signals are passed on, and the report still comes', async () => {
  const script = `for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM'])
    process.on(name, () => (console.log(name), name === 'SIGTERM' && process.exit(4)));
    console.log('ready'); setInterval(() => {}, 1e6);`;
  const { child, written } = runCommandLine(['exec', '--', process.execPath, '-e', script]);
  let told = 'ready\n';
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    await expect.poll(() => written.stdout).toBe(told);
    child.kill(signal);
    told += `${signal}\n`;
  }
  const [code] = (await once(child, 'close')) as [number];
  expect([code, written.stdout]).toEqual([4, told]);
  expect(written.stderr).toMatch(/^conduct: NOTHING OBSERVED/);
});

test('in the dialect without the contract a command is told of the interface that is there, unless its environment names one', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const wants = (api: string) =>
    `await fetch(process.env.SVC_BASE_URL + '/v1/convai/agents', { headers: { 'xi-api-key': process.env.SVC_API_KEY } });
    process.exit(process.env.SVC_API === ${api} ? 0 : 9);`;
  expect(await execScript(wants(`'batch-calling'`), { dialect: 'published' })).toMatchObject({ code: 0 });
  vi.stubEnv('SVC_API', 'campaigns');
  expect(await execScript(wants(`'campaigns'`), { dialect: 'published' })).toMatchObject({ code: 0 });
  vi.stubEnv('SVC_API', undefined);
  expect(await execScript(wants('undefined').replaceAll('xi-api-key', 'x-api-key'), {})).toMatchObject({ code: 0 });
});
