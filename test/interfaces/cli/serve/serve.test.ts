import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../../../src/ledger/open-ledger.ts';
import { createThreadedSqliteDialect } from '../../../../src/ledger/threads/sqlite-threads.ts';
import { commandFolder } from '../terminal.ts';

const createFolder = () => commandFolder({ CARILLON_LOG_LEVEL: 'silent' });

test('a token is made, opens the API, and is shown nowhere again; revoked, it opens nothing', async () => {
  const { env, begin, run } = createFolder();
  const made = await run('token', 'create', 'front desk', '--role', 'read', '--json');
  expect(made.code).toBe(0);
  const { token, tokenId } = JSON.parse(made.stdout) as { token: string; tokenId: string };
  const listed = await run('token', 'list');
  expect(listed.stdout).toMatch(new RegExp(`${tokenId} +read +front desk +\\d{4}-\\d\\d-\\d\\d +never +until revoked`));
  expect(`${listed.stdout}${(await run('token', 'list', '--json')).stdout}`).not.toContain(token.slice('carillon_000000000000_'.length));

  const { io, ended, interrupt } = begin(['serve', '--port', '0', '--json']);
  await expect.poll(() => io.written().stdout).toContain('"ready"');
  const { url } = JSON.parse(io.written().stdout) as { url: string };
  const ask = () => fetch(`${url}/api/v1/campaigns`, { headers: { authorization: `Bearer ${token}` } });
  expect(await (await ask()).json()).toEqual({ campaigns: [] });
  // In a thread: waiting for a lock here would block the server from releasing it.
  const store = await openStore({ sqlitePath: env.CARILLON_DB }, 'as-is', createThreadedSqliteDialect);
  await store.db.updateTable('tokens').set({ revoked_real: 1 }).execute();
  await store.close();
  expect((await ask()).status).toBe(401);
  interrupt();
  expect((await ended).code).toBe(0);
});

test.each([
  [['serve', '--host', '0.0.0.0'], /can be reached by others.*--tls-cert and --tls-key, or --behind-proxy/],
  [['serve', '--tls-cert', 'cert.pem'], /belong together/],
  [['serve', '--tls-cert', 'none.pem', '--tls-key', 'none.pem'], /--tls-cert none\.pem: there is no such file/],
  [['token', 'create', 'console'], /--role/],
  [['token', 'create', 'console', '--role', 'king'], /read, operate, admin/],
  [['token', 'create', ' ', '--role', 'read'], /1 to 100 characters/],
  [['token', 'create', 'console', '--role', 'read', '--expires', 'soon'], /duration/],
  [['token', 'revoke', '000000000000', '--yes'], /no token "000000000000"/],
])('%j is refused with what to do', async (args, says) => {
  const { run } = createFolder();
  await run('token', 'create', 'first', '--role', 'read');
  const { code, stderr } = await run(...args);
  expect(code).toBe(2);
  expect(stderr).toMatch(says);
});

test('a certificate that is none is refused, and the port is free again', async () => {
  const { folder, run } = createFolder();
  const path = join(folder, 'bad.pem');
  writeFileSync(path, 'not a certificate');
  const { code, stderr } = await run('serve', '--port', '0', '--tls-cert', path, '--tls-key', path);
  expect(code).toBe(2);
  expect(stderr).toMatch(/certificate/);
});
