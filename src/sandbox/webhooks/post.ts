import type { Agent } from 'undici';

/** What came back: a status, or why there is none. */
export interface PostResult {
  status: number | null;
  error: string | null;
}

const longestMs = 10_000;
const longestAnswerBytes = 64 * 1024;

/** Posts to receivers of webhooks; redirects are not followed, and an answer has ten real seconds. */
export class Poster {
  /** Made when there is something to post; most sandboxes have no webhooks. */
  #agent: Agent | null = null;
  #closed = false;

  async post(url: string, headers: Record<string, string>, body: string): Promise<PostResult> {
    try {
      const { Agent, request } = await import('undici');
      if (this.#closed) return { status: null, error: 'the sandbox stopped' };
      this.#agent ??= new Agent({ connect: { timeout: longestMs }, connections: 16 });
      const response = await request(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'carillon-sandbox' },
        body,
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(longestMs),
      });
      await response.body.dump({ limit: longestAnswerBytes });
      return { status: response.statusCode, error: null };
    } catch (error) {
      return { status: null, error: describe(error) };
    }
  }

  /** Cuts off what is under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#agent?.destroy();
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.name === 'TimeoutError') return `no answer within ${longestMs / 1000} seconds`;
  return 'code' in error && typeof error.code === 'string' ? error.code : 'the connection failed';
}
