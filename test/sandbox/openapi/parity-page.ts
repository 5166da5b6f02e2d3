import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { createParity, type ParityBody, type ParityField } from '../../../src/sandbox/openapi/parity.ts';
import { fieldTests, operationTests, schemaTests, type Citation } from './parity-tests.ts';

const introduction = `# Parity: what is contract, and what is assumed

\`npm run parity\` generates this page from the sandbox's schemas; a test fails if it is out of date. \`GET /_sandbox/parity\` returns
the same as JSON. Each field is either named by the contract or assumed because the contract is silent:

| source | the field is |
| --- | --- |
| contract | named by the contract |
| DOC | in the public documentation of comparable services |
| SDK | in types that comparable services publish |
| COMM | seen in other people's public code |
| GUESS | documented by nobody: a choice of this project |

The \`spec\` dialect serves the contract and the few gaps that must be filled; fields marked \`extended\` exist only in that dialect.
\`[]\` stands for the items of a list, \`{}\` for the values of an object with free keys. The numbers in the last column are those of the
[tests](#tests) that show the field; a number in parentheses is a test that only checks the structure of the whole body.
`;

/** docs/parity.md as it has to stand. */
export async function renderParity(options: object): Promise<string> {
  const parity = createParity();
  const cited: string[] = [];
  const cite = ([file, title]: Citation): number => {
    const key = `\`test/sandbox/${file}.test.ts\`: ${title.replaceAll(/([*_<|])/g, '\\$1')}`;
    if (!cited.includes(key)) cited.push(key);
    return cited.indexOf(key) + 1;
  };
  const numbers = (citations: readonly Citation[]): string =>
    [...new Set(citations.map(cite))].sort((a, b) => a - b).join(', ');
  const coverage = (schema: string, field: string): string => {
    const tests = testsOf(schema, field);
    return tests === undefined ? `(${numbers(schemaTests[schema] ?? [])})` : numbers(tests);
  };
  const described = new Set<string>();
  const bodyLines = (role: string, body: ParityBody | null): string[] => {
    if (body === null) return role === 'Answer' ? ['Answer: a confirmation, without fields.', ''] : [];
    if (described.has(body.schema))
      return [`${role}: \`${body.schema}\`, as [above](#${body.schema.toLowerCase()}).`, ''];
    described.add(body.schema);
    const rows = body.fields.map((field) => [
      `\`${field.field}\``,
      ...sourceOf(field),
      coverage(body.schema, field.field),
    ]);
    return [`#### ${body.schema}`, '', ...table(['field', 'source', 'dialect', 'tests'], rows)];
  };
  const sections = parity.operations.flatMap((operation) => [
    `### ${operation.number}. ${operation.summary}`,
    '',
    `\`${operation.method} ${operation.path}\`, in the contract. Tests: ${numbers(operationTests[operation.name])}.`,
    '',
    ...(operation.parameters.length === 0
      ? []
      : table(
          ['parameter', 'in', 'source', 'dialect'],
          operation.parameters.map((parameter) => [`\`${parameter.field}\``, parameter.in, ...sourceOf(parameter)]),
        )),
    ...bodyLines('Request', operation.request),
    ...bodyLines('Answer', operation.answer),
  ]);
  const refusals = parity.refusals.flatMap((body) => bodyLines('Refusal', body));
  const text = [
    introduction,
    '## Left out',
    '',
    ...parity.leftOut.map((line) => `- ${line}`),
    '',
    '## Operations',
    '',
    ...sections,
    '## Refusals',
    '',
    'The contract names the status 429 but no body. 422 has `ValidationError`; all other refusals have `Error`.',
    '',
    ...refusals,
    '## Tests',
    '',
    ...cited.map((key, index) => `${index + 1}. ${key}`),
    '',
  ].join('\n');
  return format(text, { ...options, parser: 'markdown' });
}

/** The citations of a field, or those of the nearest one around it that speak of it by name; undefined when there are none. */
export function testsOf(schema: string, field: string): readonly Citation[] | undefined {
  const tests = fieldTests[schema] ?? {};
  const parts = field.split(/(?=\.|\[\]|\{\})/);
  for (let length = parts.length; length > 0; length -= 1) {
    const found = tests[parts.slice(0, length).join('')]?.filter(([file]) => speaksOf(file, field));
    if (found !== undefined) return found.length === 0 ? undefined : found;
  }
  return undefined;
}

/** Whether a file of tests has the name of a field in it. */
export function speaksOf(file: string, field: string): boolean {
  const name = field.split(/[.[\]{}]+/).findLast((part) => part !== '') ?? '';
  return new RegExp(`\\b${name}\\b`).test(textOf(file));
}

const texts = new Map<string, string>();

export function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(join(import.meta.dirname, '..', `${file}.test.ts`), 'utf8');
  texts.set(file, text);
  return text;
}

function sourceOf({ source, dialects }: ParityField): string[] {
  return [source, dialects.includes('spec') ? 'both' : 'extended'];
}

function table(head: readonly string[], rows: readonly string[][]): string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).concat('');
}
