import { createToken, listTokens, revokeToken, type Token, type TokenRole } from '../../ledger/console/tokens.ts';
import { idFault } from '../../rules/text.ts';
import { foreseen, UsageError } from '../../shared/input/errors.ts';
import { parseDuration, withInstants } from '../../shared/input/times.ts';
import type { Control } from './control.ts';

export class UnknownTokenError extends foreseen('UnknownTokenError', true) {}

type Own = Pick<Control, 'store' | 'now'>;

export function tokenAsJson({ tokenId, name, role, createdReal, expiresReal, revokedReal, usedReal }: Token) {
  return withInstants({ tokenId, name, role, createdAt: createdReal, expiresAt: expiresReal, revokedAt: revokedReal, usedAt: usedReal });
}

export async function readTokens({ store }: Own) {
  return { tokens: (await listTokens(store)).map(tokenAsJson) };
}

/** The text is returned only here. `expires`: such as 90d. Throws UsageError. */
export async function makeToken(
  { store, now }: Own,
  made: { name: string; role: TokenRole; expires?: string | undefined; tokenId?: string },
) {
  const { expires, ...given } = made;
  const fault = idFault(made.name);
  if (fault !== null) throw new UsageError(`The name of the token holds ${fault}; remove it.`);
  const lastsMs = expires === undefined ? null : parseDuration(expires);
  if (expires !== undefined && (lastsMs === null || lastsMs <= 0))
    throw new UsageError(`expires is ${JSON.stringify(expires)}; write a duration, such as 90d.`);
  const { token, text } = await createToken(store, { ...given, lastsMs, nowReal: now() });
  return { ...tokenAsJson(token), token: text };
}

/** Takes effect at once. Throws UnknownTokenError. */
export async function endToken({ store, now }: Own, tokenId: string) {
  const token = await revokeToken(store, tokenId, now());
  if (token === undefined) throw new UnknownTokenError(`There is no token ${JSON.stringify(tokenId)}; carillon token list shows them.`);
  return tokenAsJson(token);
}
