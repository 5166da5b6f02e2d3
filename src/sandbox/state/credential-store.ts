import { randomBytes } from 'node:crypto';

export type CredentialKind = 'signed_url' | 'token';

interface Credential {
  kind: CredentialKind;
  agentId: string;
  expiresAt: number;
}

const lifetimeMs: Record<CredentialKind, number> = { signed_url: 15 * 60_000, token: 10 * 60_000 };

/** Credentials for starting one conversation each: unguessable, short-lived, gone once used. */
export class CredentialStore {
  readonly #open = new Map<string, Credential>();

  issue(kind: CredentialKind, agentId: string, now: number): string {
    this.#forgetExpired(now);
    const secret = `${kind === 'token' ? 'cvtkn' : 'cvsig'}_${randomBytes(24).toString('base64url')}`;
    this.#open.set(secret, { kind, agentId, expiresAt: now + lifetimeMs[kind] });
    return secret;
  }

  /** Uses a credential up. Null when it was never issued, was used before, or has expired. */
  redeem(secret: string, now: number): { kind: CredentialKind; agentId: string } | null {
    const credential = this.#open.get(secret);
    this.#open.delete(secret);
    if (credential === undefined || now >= credential.expiresAt) return null;
    return { kind: credential.kind, agentId: credential.agentId };
  }

  /** Oldest first; the two lifetimes are close enough that what stays behind stays few. */
  #forgetExpired(now: number): void {
    for (const [secret, { expiresAt }] of this.#open) {
      if (now < expiresAt) return;
      this.#open.delete(secret);
    }
  }
}
