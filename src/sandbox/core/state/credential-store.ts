import { randomBytes } from 'node:crypto';

export type CredentialKind = 'signed_url' | 'token';

export interface Credential {
  kind: CredentialKind;
  agentId: string;
  /** Epoch ms of service time. */
  expiresAt: number;
  /** The conversation it starts, if already fixed: a token names its room. */
  conversationId?: string;
}

export type CredentialState = 'open' | 'used' | 'expired' | 'unknown';

export const lifetimeMs: Readonly<Record<CredentialKind, number>> = { signed_url: 15 * 60_000, token: 10 * 60_000 };

/** Used or expired credentials remembered, to distinguish them from unknown ones. */
const mostRemembered = 10_000;

export class CredentialStore {
  readonly #open = new Map<string, Credential>();
  readonly #spent = new Map<string, { state: 'used' | 'expired'; credential: Credential }>();

  issueSignature(agentId: string, now: number): string {
    const secret = `cvsig_${randomBytes(24).toString('base64url')}`;
    this.keep(secret, { kind: 'signed_url', agentId, expiresAt: now + lifetimeMs.signed_url }, now);
    return secret;
  }

  keep(secret: string, credential: Credential, now: number): void {
    this.#forgetExpired(now);
    this.#open.set(secret, credential);
  }

  look(secret: string, now: number): { state: CredentialState; credential: Credential | null } {
    const credential = this.#open.get(secret);
    if (credential === undefined) return this.#spent.get(secret) ?? { state: 'unknown', credential: null };
    return { state: now < credential.expiresAt ? 'open' : 'expired', credential };
  }

  /** Consumes a credential. Null when unknown, already used or expired. */
  redeem(secret: string, now: number): Credential | null {
    const { state, credential } = this.look(secret, now);
    if (this.#open.delete(secret) && credential !== null) this.#remember(secret, state === 'open' ? 'used' : 'expired', credential);
    return state === 'open' ? credential : null;
  }

  /** Unused credentials, for a state kept in memory; never written to disk. */
  save(): [secret: string, credential: Credential][] {
    return [...this.#open];
  }

  restore(credentials: readonly [secret: string, credential: Credential][]): void {
    for (const [secret, credential] of credentials) this.#open.set(secret, credential);
  }

  /** Oldest first; the two lifetimes are close, so few expired ones stay behind. */
  #forgetExpired(now: number): void {
    for (const [secret, credential] of this.#open) {
      if (now < credential.expiresAt) return;
      this.#open.delete(secret);
      this.#remember(secret, 'expired', credential);
    }
  }

  #remember(secret: string, state: 'used' | 'expired', credential: Credential): void {
    this.#spent.set(secret, { state, credential });
    for (const oldest of this.#spent.keys()) {
      if (this.#spent.size <= mostRemembered) return;
      this.#spent.delete(oldest);
    }
  }
}
