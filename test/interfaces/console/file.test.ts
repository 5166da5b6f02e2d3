import fastify from 'fastify';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import type { Api } from '../../../src/interfaces/api/core/app.ts';
import { askFile } from '../../../src/interfaces/console/core/call-api.ts';
import { until } from '../../support/until.ts';

test('whoever leaves a download in the middle ends the reading of it', async () => {
  const app = fastify() as unknown as Api;
  onTestFinished(() => app.close());
  let [pieces, ended] = [0, false];
  async function* endless(): AsyncGenerator<string> {
    try {
      for (;;) {
        pieces += 1;
        yield 'x'.repeat(16_384);
      }
    } finally {
      ended = true;
    }
  }
  app.decorate('tickets', new Map());
  const holder = { tokenId: 'one', name: 'front desk', role: 'operate', createdReal: 0, expiresReal: null, revokedReal: null } as const; // prettier-ignore
  app.decorateRequest('holder', null);
  app.addHook('onRequest', async (request) => void (request.holder = holder));
  app.get('/file', async (_request, reply) => reply.type('text/csv').send(Readable.from(endless())));
  app.get('/page', async (request, reply) => {
    const { headers, stream } = await askFile(app, request, '/file');
    return reply.headers(headers).send(stream);
  });
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const answer = await new Promise<IncomingMessage>((answered) => get(`${origin}/page`, { agent: false }, answered));
  expect(answer.headers['content-type']).toBe('text/csv');
  await once(answer, 'data');
  answer.destroy();
  await until('the file is read no further', () => ended);
  expect(pieces).toBeLessThan(1_000);
});
