import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const windowSeconds = 3_600;

/**
 * Addresses of recordings that open without an API key until they expire. An address holds for one to two hours and stays the
 * same for an hour, so that a record read twice is the same. The key lives as long as the process.
 */
export class AudioLinks {
  readonly #key = randomBytes(32);

  /** `now` is epoch milliseconds of service time. */
  addressOf(baseUrl: string, conversationId: string, now: number): string {
    const expires = (Math.floor(now / 1000 / windowSeconds) + 2) * windowSeconds;
    const query = `expires=${expires}&signature=${this.#sign(conversationId, expires).toString('base64url')}`;
    return `${baseUrl}/v1/convai/conversations/${encodeURIComponent(conversationId)}/audio?${query}`;
  }

  check(conversationId: string, expires: number, signature: string, now: number): 'valid' | 'expired' | 'forged' {
    const given = Buffer.from(signature, 'base64url');
    const right = this.#sign(conversationId, expires);
    if (given.length !== right.length || !timingSafeEqual(given, right)) return 'forged';
    return now < expires * 1000 ? 'valid' : 'expired';
  }

  #sign(conversationId: string, expires: number): Buffer {
    return createHmac('sha256', this.#key).update(`${conversationId}\n${expires}`).digest();
  }
}
