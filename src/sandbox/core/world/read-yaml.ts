import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

/** Reads YAML or JSON; an empty file is an empty object. What is wrong is told in a sentence that quotes nothing of the file. */
export function readYaml(text: string): { value: unknown } | { problem: string } {
  // Loaded for the first file: most sandboxes have none.
  const { parseDocument } = load('yaml') as typeof import('yaml');
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: true });
  const [problem] = document.errors;
  if (problem !== undefined) return { problem: `not YAML: ${problem.message.split('\n', 1)[0]?.replace(/:$/, '.')}` };
  try {
    return { value: document.toJS({ maxAliasCount: 100 }) ?? {} };
  } catch (error) {
    return { problem: `not YAML that can be used: ${error instanceof Error ? error.message : 'unreadable'}` };
  }
}
