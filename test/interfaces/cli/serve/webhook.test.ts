import { expect, test } from 'vitest';
import { startHookServer, sendJson } from '../../../shared/hooks/hook-server.ts';
import { readMessages, secret } from '../../../shared/hooks/webhook-world.ts';
import { commandFolder } from '../terminal.ts';

function createFolder(settings: Record<string, string> = { CARILLON_HOOK_SECRET: secret, CARILLON_HOOK_NETWORKS: '127.0.0.1' }) {
  const { run } = commandFolder(settings, { now: Date.now });
  return (...args: string[]) => run('webhook', ...args);
}

test('a webhook is added, listed, tested, paused, resumed and removed', async () => {
  const run = createFolder();
  const hook = await startHookServer((response) => sendJson(response, {}));
  const url = hook.url.replace(/hook\?.*/, 'planted-path');
  const added = await run('add', url, '--events', 'row.ended, campaign.completed', '--json');
  expect(added.code).toBe(0);
  const { webhookId: id, ...shown } = JSON.parse(added.stdout) as { webhookId: string; notice: string };
  expect(shown).toMatchObject({ types: ['row.ended', 'campaign.completed'], campaign: null, madeBy: 'person' });
  expect(shown.notice).toMatch(/Temporal at 127\.0\.0\.1:9 cannot be used/);

  const listed = await run('list');
  expect(listed.stdout).toMatch(new RegExp(`${id} +127\\.0\\.0\\.1:\\d+ +all +row\\.ended, campaign\\.completed +active; no event waits`));
  expect((JSON.parse((await run('list', '--json')).stdout) as { webhooks: object[] }).webhooks).toHaveLength(1);
  expect((await run('test', id)).stdout).toBe(`Webhook ${id} has taken the ping.\n`);
  expect(readMessages(hook.calls)).toMatchObject([{ type: 'ping', data: { webhook: id } }]);
  hook.answerWith((response) => sendJson(response, {}, 503));
  expect(await run('test', id)).toMatchObject({
    code: 1,
    stderr: `Webhook ${id} has not taken the ping: it answered with status 503.\n`,
  });
  expect(JSON.parse((await run('test', id, '--json')).stdout)).toEqual({
    webhookId: id,
    delivered: false,
    status: 503,
    why: 'it answered with status 503',
  });
  expect((await run('pause', id)).stdout).toBe(`Webhook ${id}: paused.\n`);
  const resumed = await run('resume', id);
  expect(resumed.stdout).toBe(`Webhook ${id}: active.\n`);
  expect(resumed.stderr).toMatch(/A running worker sees the change within a minute/);
  expect((await run('remove', id)).code).toBe(2);
  expect((await run('remove', id, '--yes')).stdout).toBe(`Webhook ${id} is removed.\n`);
  expect(await run('list')).toMatchObject({ stdout: '', stderr: expect.stringContaining('There is no webhook yet') });
});

test.each([
  [['add', 'http://crm.example.com/'], /http only for this machine/],
  [['add', 'https://crm.example.com/?key=planted'], /has a query.*env:\/\/CARILLON_URL_/],
  [['add', 'https://crm.example.com/', '--events', 'row.dialled'], /no event "row\.dialled"; events are row\.ended/],
  [['add', 'https://crm.example.com/', '--campaign', 'autumn'], /no campaign "autumn"/],
  [['test', '000000000000'], /no webhook "000000000000"\. It has none yet/],
  [['remove', '000000000000', '--yes'], /no webhook "000000000000"/],
])('%j is refused with what to do', async (args, says) => {
  const run = createFolder();
  await run('add', 'https://crm.example.com/', '--campaign', 'none');
  const { code, stderr } = await run(...args);
  expect(code).toBe(2);
  expect(stderr).toMatch(says);
  expect(stderr).not.toContain('planted');
});

test('without a secret nothing is added', async () => {
  const run = createFolder({});
  const { code, stderr } = await run('add', 'https://crm.example.com/');
  expect(code).toBe(2);
  expect(stderr).toMatch(/CARILLON_HOOK_SECRET is not set, and requests to webhooks are signed with it/);
});
