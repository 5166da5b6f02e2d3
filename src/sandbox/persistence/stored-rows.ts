import type { Service } from '../core/service/service.ts';
import type { SandboxSettings } from '../core/settings/settings.ts';
import type { Agent, PhoneNumber } from '../core/state/agent.ts';
import { callDocument, readCall, type CallDocument } from './call-document.ts';
import type { Row } from './data-file.ts';
import { saveBatch, takeWhole, type SavedBatch, type ServiceImage } from './service-image.ts';

/** What was given at start and may change afterwards: a start that gives something else begins with that. */
export type StartSettings = Record<'faults' | 'world' | 'unavailableModels', string>;

type StoredNumber = Omit<PhoneNumber, 'sealedToken'> & { sealedToken: string | null };

export interface StoredState extends Pick<MainRow, 'seed' | 'speed' | 'given'> {
  image: ServiceImage;
  unreadable: { kind: string; key: string }[];
}

export function startSettings({ faults, world, unavailableModels }: SandboxSettings): StartSettings {
  const text = (value: unknown): string => JSON.stringify(value);
  return { faults: text(faults), world: text(world), unavailableModels: text(unavailableModels) };
}

function mainOf(service: Service) {
  const { settings, clock } = service;
  /** `speed` is service milliseconds per real millisecond when it was written. */
  return { seed: settings.seed, speed: clock.speed, given: startSettings(settings), ...takeWhole(service) };
}

/** The order of numbers is left out in files of sandboxes that could not delete numbers. */
type MainRow = Omit<ReturnType<typeof mainOf>, 'numberOrder'> & { numberOrder?: string[] };

/** The rows that are small, and written whole. */
export function writeWhole(service: Service): Row[] {
  const { numbers, batches } = service.state;
  const stored = [...numbers.values()].map((number): StoredNumber => ({
    ...number,
    sealedToken: number.sealedToken?.toString('base64') ?? null,
  }));
  return [
    { kind: 'main', key: 'main', text: JSON.stringify(mainOf(service)) },
    { kind: 'numbers', key: 'numbers', text: JSON.stringify(stored) },
    ...[...batches].map(([key, batch]) => ({ kind: 'batch', key, text: JSON.stringify(saveBatch(batch)) })),
  ];
}

type FoundRow = Omit<Row, 'text'> & { text: string | null };

/**
 * The state as its rows have it; null when none was written yet. A row that cannot be read is named in `unreadable`, and the others are
 * read without it. Throws when it is the row that all others hang on.
 */
export function readRows(rows: readonly FoundRow[]): StoredState | null {
  const mainRow = rows.find(({ kind }) => kind === 'main');
  if (mainRow === undefined) return null;
  const main = JSON.parse(mainRow.text ?? '') as MainRow;
  const unreadable: StoredState['unreadable'] = [];
  const readEach = <Value>(wanted: string, read: (text: string, key: string) => Value): Value[] =>
    rows.flatMap(({ kind, key, text }) => {
      if (kind !== wanted) return [];
      try {
        return [read(text ?? '', key)];
      } catch {
        unreadable.push({ kind, key });
        return [];
      }
    });
  const versions = new Map(readEach('version', (text, key) => [key, JSON.parse(text) as Agent]));
  const agents = readEach('agent', (text, key) => ({ position: Number(key), ...readAgentRow(text) }));
  const [numbers = []] = readEach('numbers', (text) => JSON.parse(text) as StoredNumber[]);
  const batches = readEach('batch', (text) => readObject(text) as SavedBatch);
  const counters = readEach('counter', (text, key): [string, number] => [key, readCount(text)]);
  const calls = readEach('call', (text) => {
    const stored = readObject(text) as { accepted: number | null; recorded: number | null; call: CallDocument };
    callDocument.parse(stored.call);
    return { ...stored, call: readCall(stored.call, versions) };
  });
  const { seed, speed, given, ...rest } = main;
  return {
    seed,
    speed,
    given,
    unreadable,
    image: {
      ...rest,
      numberOrder: rest.numberOrder ?? numbers.map(({ phoneNumberId }) => phoneNumberId),
      agents: agents.sort((a, b) => a.position - b.position).map(({ agentId, agent }) => ({ agentId, agent })),
      batches,
      counters,
      numbers: numbers.map((number) => ({
        ...number,
        sealedToken: number.sealedToken === null ? null : Buffer.from(number.sealedToken, 'base64'),
      })),
      calls: calls
        .sort((a, b) => (a.accepted ?? Infinity) - (b.accepted ?? Infinity) || (a.recorded ?? 0) - (b.recorded ?? 0))
        .map(({ call }) => call),
      recordOrder: calls
        .filter(({ recorded }) => recorded !== null)
        .sort((a, b) => (a.recorded ?? 0) - (b.recorded ?? 0))
        .map(({ call }) => call.callId),
      credentials: [],
    },
  };
}

function readObject(text: string): object {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw new TypeError('not an object');
  return value;
}

function readAgentRow(text: string): ServiceImage['agents'][number] {
  const row = readObject(text) as ServiceImage['agents'][number];
  if (typeof row.agentId !== 'string') throw new TypeError('no agent');
  return row;
}

function readCount(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new TypeError('no count');
  return value;
}
