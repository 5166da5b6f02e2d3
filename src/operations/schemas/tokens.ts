import { z } from 'zod';
import { instant } from './common.ts';

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

/** A token, without its text. */
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

export const tokenShapes = {
  listTokens: { answer: z.object({ tokens: z.array(token) }) },
  createToken: { body: newTokenBody, answer: createdToken, status: 201 },
  revokeToken: {
    params: z.object({
      token: z
        .string()
        .min(1)
        .max(100)
        .meta({ description: 'Id of the token.', examples: ['4f7c2f0e9a1b'] }),
    }),
    answer: token,
  },
} as const;
