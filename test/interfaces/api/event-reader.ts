import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';

export interface EventReader {
  response: IncomingMessage;
  ids: number[];
  text(): string;
  pause(): void;
  resume(): void;
  end(): void;
}

export async function readEventStream(url: string, headers: Record<string, string>): Promise<EventReader> {
  const request = httpRequest(url, { headers, agent: false });
  request.on('error', () => {});
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const ids: number[] = [];
  let [whole, line, id] = ['', '', ''];
  response.on('error', () => {});
  response.setEncoding('utf8').on('data', (part: string) => {
    whole += part;
    const lines = (line + part).split('\n');
    line = lines.pop() ?? '';
    for (const each of lines) {
      if (each.startsWith('id: ')) id = each.slice(4);
      // An id without data is no event.
      if (each.startsWith('data: ')) ids.push(Number(id));
    }
  });
  return { response, ids, text: () => whole, pause: () => response.pause(), resume: () => response.resume(), end: () => request.destroy() };
}
