import { z } from 'zod';
import { instant } from './fields.ts';
import { change, read, under } from './operation.ts';

const role = z.enum(['read', 'operate', 'admin']).describe('What it allows; each role includes the one before it.');

const newTokenBody = z.object({
  name: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .meta({ description: 'Who will use it; stands in the event log beside every change.', examples: ['front desk'] }),
  role,
  expires: z
    .string()
    .max(20)
    .optional()
    .meta({ description: 'How long it holds; left out: until it is revoked.', examples: ['90d'] }),
});

/** Without its text. */
const token = z
  .object({
    tokenId: z.string(),
    name: z.string(),
    role,
    createdAt: instant,
    expiresAt: instant.nullable().describe('Null: until it is revoked.'),
    revokedAt: instant.nullable(),
    usedAt: instant.nullable().describe('When it was last used for a request, to the minute; null: not yet.'),
  })
  .meta({ id: 'Token' });

const createdToken = token.extend({
  token: z.string().nullable().describe('What its holder sends; null where the same Idempotency-Key is answered again.'),
});

const tokenParams = z.object({
  token: z
    .string()
    .min(1)
    .max(100)
    .meta({ description: 'Id of the token.', examples: ['4f7c2f0e9a1b'] }),
});

export const tokenOperations = under('access', {
  listTokens: read('GET /tokens', 'admin', 'List the tokens with their last use, newest first; none can be read again', {
    answer: z.object({ tokens: z.array(token) }),
  }),
  createToken: change('POST /tokens', 'admin', 'Make a token and show it once', {
    more: 'Its text is kept nowhere: the same Idempotency-Key answers again without it.',
    action: 'token_created',
    body: newTokenBody,
    answer: createdToken,
    status: 201,
  }),
  revokeToken: change('DELETE /tokens/:token', 'admin', 'Refuse a token from now on', {
    more: 'Whoever is signed in with it is signed out. Repeating it changes nothing.',
    action: 'token_revoked',
    params: tokenParams,
    answer: token,
  }),
});
