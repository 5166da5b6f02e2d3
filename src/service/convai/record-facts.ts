import {
  noPointers,
  type CallResult,
  type ConversationFacts,
  type ConversationStatus,
  type RecordPointers,
} from '../../rules/conversation-facts.ts';
import type { ServiceRecord, Turn } from '../port/call-service.ts';
import { isRecord } from '../http/refusal-detail.ts';
import { storable } from '../../rules/text.ts';
import { parseServiceTime, storableId } from '../port/record-values.ts';

type Fields = Readonly<Record<string, unknown>>;

const nothing: Fields = {};

const statuses: Readonly<Record<string, ConversationStatus>> = {
  initiated: 'initiated',
  'in-progress': 'in-progress',
  in_progress: 'in-progress',
  processing: 'processing',
  done: 'done',
  failed: 'failed',
};

const callResults: Readonly<Record<string, CallResult>> = {
  answered: 'answered',
  voicemail: 'voicemail',
  busy: 'busy',
  no_answer: 'no_answer',
  'no-answer': 'no_answer',
  failed: 'failed',
};

const directions: Readonly<Record<string, 'outbound' | 'inbound'>> = { outbound: 'outbound', inbound: 'inbound' };

const speakers: Readonly<Record<string, 'agent' | 'user'>> = {
  agent: 'agent',
  assistant: 'agent',
  ai: 'agent',
  bot: 'agent',
  user: 'user',
  customer: 'user',
  callee: 'user',
  caller: 'user',
  client: 'user',
  human: 'user',
};

/**
 * Facts by documented names, then likely ones; a value at one of the `pointers` comes first. Never throws: missing or unfamiliar values are
 * null, unstorable characters become their code. `agentIdFallback` is for records without an agent.
 */
export function factsFromRecord(
  record: unknown,
  agentIdFallback: string | null = null,
  pointers: RecordPointers = noPointers,
): ConversationFacts {
  const fields = fieldsOf(record);
  const metadata = fieldsOf(fields['metadata']);
  const phoneCall = fieldsOf(metadata['phone_call']);
  const batchCall = fieldsOf(metadata['batch_call']);
  const analysis = fieldsOf(fields['analysis']);
  const direction = oneOf(directions, phoneCall['direction'], metadata['direction'], fields['direction']);
  // On an inbound call the external number is the caller's.
  const externalNumber = e164(phoneCall['external_number']);
  const at = (pointer: string): string | null => textAt(record, pointer);
  const collected = merge(
    valuesById(analysis['data_collection_results'], 'value'),
    valuesById(fields['data_collection_results'], 'value'),
    valuesById(fields['collected_data'], 'value'),
  );
  const evaluation = merge(
    valuesById(analysis['evaluation_criteria_results'], 'result'),
    valuesById(fields['evaluation_results'], 'result'),
  );
  return storable({
    conversationId: idOf(text(fields['conversation_id'])) ?? '',
    agentId: text(metadata['agent_id'], fields['agent_id']) ?? agentIdFallback,
    direction,
    calleeNumber: direction === 'inbound' ? null : (e164(first(at, pointers.calleeNumber)) ?? externalNumber),
    batchId: idOf(
      text(
        first(at, pointers.batchId),
        fieldsOf(batchCall['campaign'])['campaign_id'],
        batchCall['batch_call_id'],
        metadata['batch_id'],
        fields['batch_id'],
      ),
    ),
    references: [
      ...new Set([...pointers.reference.flatMap((pointer) => at(pointer) ?? []), ...referencesOf(fields, collected, batchCall)]),
    ],
    status: oneOf(statuses, fields['status'], metadata['status']),
    startedAt: first(parseServiceTime, [
      metadata['start_time'],
      metadata['start_time_unix_secs'],
      fields['start_time_unix_secs'],
      fields['start_time'],
    ]),
    endedAt: first(parseServiceTime, [metadata['end_time'], metadata['end_time_unix_secs'], fields['end_time']]),
    durationMs: first(secondsAsMs, [
      metadata['duration'],
      metadata['call_duration_secs'],
      fields['call_duration_secs'],
      fields['duration'],
    ]),
    callResult: oneOf(callResults, phoneCall['call_result'], metadata['call_result']),
    terminationReason: text(metadata['termination_reason'], fields['termination_reason']),
    ...spokenFacts(fields['transcript']),
    audio: text(fields['audio']),
    collected,
    evaluation,
    ...(fields['analysis'] === null && isEmpty(collected, evaluation) ? { analysed: false as const } : {}),
    ...pointedValues(record, pointers.values),
    ...(direction === 'inbound' && externalNumber !== null ? { callerNumber: externalNumber } : {}),
  });
}

/** Facts, turns and raw document. Never throws. */
export function readServiceRecord(
  document: Readonly<Record<string, unknown>>,
  agentId: string | null = null,
  pointers: RecordPointers = noPointers,
): ServiceRecord {
  return { facts: factsFromRecord(document, agentId, pointers), turns: turnsOf(document['transcript']), document };
}

/** By documented names, else likely ones. */
function turnsOf(transcript: unknown): Turn[] {
  return (Array.isArray(transcript) ? transcript.map(fieldsOf) : []).map((turn) => {
    const time = turn['timestamp'] ?? turn['time_in_call_secs'];
    return {
      speaker: wordsOf(turn['speaker']) ?? wordsOf(turn['role']) ?? 'unknown',
      text: wordsOf(turn['text']) ?? wordsOf(turn['message']),
      time: typeof time === 'number' || typeof time === 'string' ? time : null,
    };
  });
}

function wordsOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function idOf(id: string | null): string | null {
  return id === null ? null : storableId(id);
}

/** Rules do not compare longer texts. */
const longestValue = 200;

function pointedValues(record: unknown, pointers: readonly string[]): Pick<ConversationFacts, 'pointed'> {
  const found = pointers.flatMap((pointer): [string, string][] => {
    const value = textAt(record, pointer);
    return value === null ? [] : [[pointer, value.slice(0, longestValue)]];
  });
  return found.length === 0 ? {} : { pointed: Object.fromEntries(found) };
}

/** Facts of a conversation list entry, which usually has less than the record. Never throws. */
export function factsFromListEntry(entry: unknown, pointers: RecordPointers = noPointers): ConversationFacts {
  return factsFromRecord(entry, null, pointers);
}

function spokenFacts(transcript: unknown): Pick<ConversationFacts, 'hasTranscript' | 'openingLine' | 'agentTurns' | 'userTurns'> {
  const facts = {
    hasTranscript: Array.isArray(transcript),
    openingLine: null as string | null,
    agentTurns: 0,
    userTurns: 0,
  };
  for (const turn of Array.isArray(transcript) ? transcript.map(fieldsOf) : []) {
    const turnText = text(turn['text'], turn['message']);
    // A turn with an empty text, such as a tool call, was not spoken.
    if (turnText === null && ('text' in turn || 'message' in turn)) continue;
    const speaker = oneOf(speakers, turn['speaker'], turn['role']);
    if (speaker === 'user') facts.userTurns += 1;
    if (speaker !== 'agent') continue;
    facts.agentTurns += 1;
    facts.openingLine ??= turnText;
  }
  return facts;
}

/**
 * Echoed variables, collected strings and the submitted recipient id, without the service's reserved variables. Only the ledger can pick
 * our reference.
 */
function referencesOf(fields: Fields, collected: Record<string, unknown> | null, batchCall: Fields): string[] {
  const variables = fieldsOf(fieldsOf(fields['conversation_initiation_client_data'])['dynamic_variables']);
  const echoed = Object.entries(variables).filter(([name]) => !/^(system|secret)__/.test(name));
  const values = [batchCall['batch_call_recipient_id'], ...[...echoed, ...Object.entries(collected ?? {})].map(([, value]) => value)];
  return [...new Set(values.filter((value) => typeof value === 'string' && value !== ''))] as string[];
}

/** From `{ id: { [key]: v, … } }` or `{ id: v }`; null: neither. */
function valuesById(results: unknown, key: string): Record<string, unknown> | null {
  if (!isRecord(results)) return null;
  return Object.fromEntries(
    Object.entries(results).map(([id, entry]) => [id, isRecord(entry) && Object.hasOwn(entry, key) ? entry[key] : entry]),
  );
}

/** Later parts win. Null when all are null. */
function merge(...parts: (Record<string, unknown> | null)[]): Record<string, unknown> | null {
  const present = parts.filter((part) => part !== null);
  return present.length === 0 ? null : Object.fromEntries(present.flatMap((part) => Object.entries(part)));
}

/** False without any map. */
function isEmpty(...maps: (Record<string, unknown> | null)[]): boolean {
  const present = maps.filter((map) => map !== null);
  return present.length > 0 && present.every((map) => Object.keys(map).length === 0);
}

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : nothing;
}

function first<Item, Value>(read: (item: Item) => Value | null, candidates: readonly Item[]): Value | null {
  for (const candidate of candidates) {
    const value = read(candidate);
    if (value !== null) return value;
  }
  return null;
}

function text(...candidates: unknown[]): string | null {
  return first((value) => (typeof value === 'string' && value.trim() !== '' ? value : null), candidates);
}

function oneOf<Word extends string>(known: Readonly<Record<string, Word>>, ...candidates: unknown[]): Word | null {
  return first((candidate) => {
    const word = typeof candidate === 'string' ? candidate.trim().toLowerCase() : '';
    return Object.hasOwn(known, word) ? (known[word] ?? null) : null;
  }, candidates);
}

function e164(value: unknown): string | null {
  const number = typeof value === 'string' ? value.replace(/[\s().-]/g, '') : '';
  return /^\+[1-9]\d{1,14}$/.test(number) ? number : null;
}

function secondsAsMs(value: unknown): number | null {
  const seconds = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  if (typeof seconds !== 'number' || !(seconds >= 0)) return null;
  const ms = Math.round(seconds * 1000);
  return Number.isSafeInteger(ms) ? ms : null;
}

/** By JSON pointer (RFC 6901); undefined if absent. Never throws. */
function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** A non-blank text, number or boolean at a pointer, as text; else null. */
function textAt(document: unknown, pointer: string): string | null {
  const value = valueAt(document, pointer);
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : null;
}
