import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { expect, test, vi } from 'vitest';
import { createToken, findToken, tokenRoles, type TokenRole } from '../../../src/ledger/console/tokens.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven, noon } from '../../ledger/scenario.ts';
import { ApiWorld } from './api-world.ts';

const compared = vi.hoisted(() => vi.fn<(a: Buffer, b: Buffer) => void>());
vi.mock('node:crypto', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:crypto')>();
  const timingSafeEqual = (a: Buffer, b: Buffer) => {
    compared(a, b);
    return original.timingSafeEqual(a, b);
  };
  return { ...original, timingSafeEqual };
});

/** Every operation of the description, by the least role that it takes. */
const operationsOf: Readonly<Record<TokenRole, string>> = {
  read:
    'checkCampaign checkSuppressions downloadReport followEvents listCampaigns listEvents listRows listSchedules listWebhooks ' +
    'readSchedule readWebhook showCampaign showCourse showFunnel showReport showStory showWaiting',
  operate:
    'addSuppressions adjustCampaign cancelCampaign continueSchedule createCampaign deleteSchedule downloadRecording downloadResults drainCampaign ' +
    'importSuppressions listDoubtful listResults listSuppressions pauseCampaign pauseSchedule recoverCampaign resolveAll resolveRow ' +
    'resumeCampaign resumeSchedule retryRows showTranscript triggerSchedule updateList withdrawRows',
  admin: 'addWebhook createSchedule pauseWebhook previewSchedule removeSuppressions removeWebhook resumeWebhook testWebhook',
};
const roleOf = new Map(tokenRoles.flatMap((role) => operationsOf[role].split(' ').map((id) => [id, role] as const)));

interface Described {
  paths: Record<string, Record<string, { operationId: string; description?: string }>>;
}

/** The status of an answer, without its body: some have no end. */
async function statusOf(url: string, method: string, token: string | null): Promise<number> {
  const headers = {
    'idempotency-key': crypto.randomUUID(),
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
  const request = httpRequest(url, { method, headers, agent: false });
  request.on('error', () => {});
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  request.destroy();
  return response.statusCode ?? 0;
}

test('each route lets through exactly the roles that may use it', async () => {
  const store = await openCleanStore('sqlite');
  await beginProven(store);
  const world = await ApiWorld.over(store);
  const address = await world.app.listen({ port: 0, host: '127.0.0.1' });
  const { paths } = (await world.ask('GET /api/v1/openapi.json', { token: null })).body as Described;
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, description }]) => ({
      path,
      method,
      operationId,
      description,
    })),
  );
  expect(routes.map(({ operationId }) => operationId).toSorted()).toEqual([...roleOf.keys()].toSorted());
  const names: Record<string, string> = { campaign: 'spring', row: '1', call: '1', format: 'csv', webhook: 'none' };
  for (const { path, method, operationId, description } of routes) {
    const wanted = roleOf.get(operationId) ?? 'admin';
    expect(description).toContain(`Takes the role ${wanted}.`);
    const url = `${address}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? 'none')}`;
    const ask = (token: string | null) => statusOf(url, method.toUpperCase(), token);
    expect(await ask(null), operationId).toBe(401);
    expect(await ask(`carillon_000000000000_${'x'.repeat(43)}`), operationId).toBe(401);
    for (const role of tokenRoles) {
      const status = await ask(world.tokenText(role));
      const may = tokenRoles.indexOf(role) >= tokenRoles.indexOf(wanted);
      if (may) expect([401, 403], `${role}: ${operationId}`).not.toContain(status);
      else expect(status, `${role}: ${operationId}`).toBe(403);
    }
  }
});

test('a token that nobody has takes the same steps as one with a wrong secret', async () => {
  const store = await openCleanStore('sqlite');
  const { text } = await createToken(store, { name: 'console', role: 'read', lastsMs: null, nowReal: noon });
  for (const id of [text.split('_')[1], '000000000000']) {
    compared.mockClear();
    expect(await findToken(store, `carillon_${id}_${'x'.repeat(43)}`, noon)).toBeNull();
    expect(compared, id).toHaveBeenCalledOnce();
    const [stored, sent] = compared.mock.calls[0] ?? [];
    expect(stored?.length).toBe(sent?.length);
  }
});
