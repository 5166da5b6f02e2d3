import type { ConversationRecord } from '../convai/schemas-responses.ts';
import { factsFromRecord } from '../convai/record-facts.ts';
import { printable } from '../input/printable.ts';

/** A conversation for reading: a few lines about the call, then who said what. `row` is the list's, for a call of a campaign. */
export function renderTranscript(row: number | null, record: ConversationRecord): string {
  const { startedAt, durationMs, callResult, collected, evaluation } = factsFromRecord(record);
  const head = [
    ...(row === null ? [] : [`Row           ${row}`]),
    `Conversation  ${printable(record.conversation_id)}`,
    ...(startedAt === null ? [] : [`Started       ${new Date(startedAt).toISOString()}`]),
    ...(durationMs === null ? [] : [`Duration      ${durationMs / 1000} s`]),
    ...(callResult === null ? [] : [`Call          ${callResult}`]),
    ...describeValues('Collected', collected),
    ...describeValues('Evaluation', evaluation),
  ];
  const turns = (record.transcript ?? []).map(describeTurn);
  return `${[...head, '', ...(turns.length === 0 ? ['(nothing was said)'] : turns)].join('\n')}\n`;
}

function describeValues(label: string, values: Record<string, unknown> | null): string[] {
  return Object.entries(values ?? {}).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return printable(`${label.padEnd(14)}${name} = ${text}`);
  });
}

/** By the documented names, else the likely ones. */
function describeTurn(turn: Record<string, unknown>): string {
  const speaker = first(turn['speaker'], turn['role']) ?? 'unknown';
  const said = first(turn['text'], turn['message']) ?? '(no words)';
  const time = turn['timestamp'] ?? turn['time_in_call_secs'];
  const at = typeof time === 'number' || typeof time === 'string' ? `[${time}] ` : '';
  return printable(`${at}${speaker}: ${said}`);
}

function first(...values: unknown[]): string | null {
  return values.find((value): value is string => typeof value === 'string' && value !== '') ?? null;
}
