import { randomBytes, randomUUID } from 'node:crypto';
import type { JWTPayload } from 'jose';
import type { LiveKitSettings } from '../core/settings/connection-settings.ts';

export interface TokenVerdict {
  /** Signature and times are right. */
  valid: boolean;
  reason: 'expired' | 'not_yet_valid' | 'wrong_signature' | 'wrong_issuer' | 'malformed' | null;
  claims: JWTPayload | null;
}

interface TokenFacts {
  room: string;
  identity: string;
  agentId: string;
  issuedAt: number;
  expiresAt: number;
}

/** Signs and checks conversation tokens: JWTs (HS256) with the claims of a LiveKit server. */
export class ConversationTokens {
  readonly apiKey: string;
  /** Whether key and secret came with the settings; made up for the life of this process otherwise. */
  readonly isConfigured: boolean;
  readonly url: string | null;
  readonly #secret: Uint8Array;

  constructor(settings: LiveKitSettings | null) {
    this.isConfigured = settings !== null;
    this.apiKey = settings?.apiKey ?? `API${randomBytes(8).toString('hex')}`;
    this.url = settings?.url ?? null;
    this.#secret = settings === null ? randomBytes(32) : new TextEncoder().encode(settings.apiSecret);
  }

  async sign({ room, identity, agentId, issuedAt, expiresAt }: TokenFacts): Promise<string> {
    const { SignJWT } = await loadJose();
    return new SignJWT({
      name: identity,
      metadata: JSON.stringify({ agent_id: agentId, conversation_id: room }),
      video: { roomJoin: true, room, canPublish: true, canSubscribe: true, canPublishData: true },
    })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(this.apiKey)
      .setSubject(identity)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setNotBefore(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(this.#secret);
  }

  /** `now` is epoch milliseconds of service time. Says nothing of whether the token was used. */
  async verify(token: string, now: number): Promise<TokenVerdict> {
    const jose = await loadJose();
    try {
      const { payload } = await jose.jwtVerify(token, this.#secret, {
        algorithms: ['HS256'],
        issuer: this.apiKey,
        requiredClaims: ['exp', 'sub', 'jti'],
        currentDate: new Date(now),
      });
      return { valid: true, reason: null, claims: payload };
    } catch (error) {
      return { valid: false, reason: reasonOf(jose, error), claims: readClaims(jose, token) };
    }
  }
}

type Jose = typeof import('jose');

/** Many small files, read when the first token is wanted. */
async function loadJose(): Promise<Jose> {
  return import('jose');
}

function reasonOf({ errors }: Jose, error: unknown): TokenVerdict['reason'] {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'wrong_signature';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'nbf') return 'not_yet_valid';
    return error.claim === 'iss' ? 'wrong_issuer' : 'malformed';
  }
  return 'malformed';
}

function readClaims({ decodeJwt }: Jose, token: string): JWTPayload | null {
  try {
    return decodeJwt(token);
  } catch {
    return null;
  }
}
