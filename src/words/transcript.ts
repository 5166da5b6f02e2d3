import type { ConversationRecord } from '../service/convai/schemas-responses.ts';
import { factsFromRecord } from '../service/convai/record-facts.ts';
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
  const turns = readTurns(record).map(describeTurn);
  return `${[...head, '', ...(turns.length === 0 ? ['(nothing was said)'] : turns)].join('\n')}\n`;
}

function describeValues(label: string, values: Record<string, unknown> | null): string[] {
  return Object.entries(values ?? {}).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return printable(`${label.padEnd(14)}${name} = ${text}`);
  });
}

/** What one of the two said. */
export interface Turn {
  speaker: string;
  text: string | null;
  /** As the service tells it: an instant, or seconds since the call began. */
  time: string | number | null;
}

/** Who said what, by the documented names, else the likely ones. */
export function readTurns({ transcript }: Pick<ConversationRecord, 'transcript'>): Turn[] {
  return (transcript ?? []).map((turn) => {
    const time = turn['timestamp'] ?? turn['time_in_call_secs'];
    return {
      speaker: first(turn['speaker'], turn['role']) ?? 'unknown',
      text: first(turn['text'], turn['message']),
      time: typeof time === 'number' || typeof time === 'string' ? time : null,
    };
  });
}

function describeTurn({ speaker, text, time }: Turn): string {
  return printable(`${time === null ? '' : `[${time}] `}${speaker}: ${text ?? '(no words)'}`);
}

function first(...values: unknown[]): string | null {
  return values.find((value): value is string => typeof value === 'string' && value !== '') ?? null;
}
