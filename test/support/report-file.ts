import type { Json } from '../sandbox/harness.ts';

export function dataOf(text: string): Json {
  return JSON.parse(/<script type="application\/json" id="data">([\s\S]*?)<\/script>/.exec(text)?.[1] ?? '');
}
