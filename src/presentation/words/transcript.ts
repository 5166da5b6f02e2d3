import type { ServiceRecord, Turn } from '../../service/port/call-service.ts';
import { printable } from '../../shared/input/printable.ts';

/** A conversation for reading: a few lines about the call, then who said what. `row` is the list's, for a call of a campaign. */
export function renderTranscript(row: number | null, { facts, turns }: ServiceRecord): string {
  const { conversationId, startedAt, durationMs, callResult, collected, evaluation } = facts;
  const head = [
    ...(row === null ? [] : [`Row           ${row}`]),
    `Conversation  ${printable(conversationId)}`,
    ...(startedAt === null ? [] : [`Started       ${new Date(startedAt).toISOString()}`]),
    ...(durationMs === null ? [] : [`Duration      ${durationMs / 1000} s`]),
    ...(callResult === null ? [] : [`Call          ${callResult}`]),
    ...describeValues('Collected', collected),
    ...describeValues('Evaluation', evaluation),
  ];
  const said = turns.map(describeTurn);
  return `${[...head, '', ...(said.length === 0 ? ['(nothing was said)'] : said)].join('\n')}\n`;
}

function describeValues(label: string, values: Record<string, unknown> | null): string[] {
  return Object.entries(values ?? {}).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return printable(`${label.padEnd(14)}${name} = ${text}`);
  });
}

function describeTurn({ speaker, text, time }: Turn): string {
  return printable(`${time === null ? '' : `[${time}] `}${speaker}: ${text ?? '(no words)'}`);
}
