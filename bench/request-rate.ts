import { Pool } from 'undici';

export interface LoadRequest {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
}

export interface Load {
  url: string;
  /** Makes the nth request. */
  request: (nth: number) => LoadRequest;
  seconds: number;
}

const connections = 16;
const warmUpRequests = 200;

/** Requests per second over kept connections, each with one request at a time. Throws when one is not answered with 200. */
export async function measureRate({ url, request, seconds }: Load): Promise<number> {
  const pool = new Pool(url, { connections });
  let nth = 0;
  const ask = async () => {
    const { method, path, body } = request(nth++);
    const headers = {
      'x-api-key': 'sk_sandbox_ok',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const answer = await pool.request({ method, path, headers, body: body ?? null });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`);
  };
  const keepAsking = async (isOver: () => boolean) => {
    const work = async () => {
      while (!isOver()) await ask();
    };
    await Promise.all(Array.from({ length: connections }, work));
  };
  try {
    await keepAsking(() => nth >= warmUpRequests);
    const begun = performance.now();
    const before = nth;
    await keepAsking(() => performance.now() - begun >= seconds * 1000);
    return (nth - before) / ((performance.now() - begun) / 1000);
  } finally {
    await pool.destroy();
  }
}
