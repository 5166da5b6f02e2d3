import type { Json } from '../sandbox/harness.ts';

/** The data inside a report, as a program finds them. */
export function dataOf(text: string): Json {
  return JSON.parse(/<script type="application\/json" id="data">([\s\S]*?)<\/script>/.exec(text)?.[1] ?? '');
}
