import type { Service } from '../core/service/service.ts';
import type { SandboxSettings } from '../core/settings/settings.ts';
import type { Agent, PhoneNumber } from '../core/state/agent.ts';
import type { ServiceState } from '../core/state/service-state.ts';
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

export function writeMain(service: Service): Row {
  return { kind: 'main', key: 'main', text: JSON.stringify(mainOf(service)) };
}

export function writeNumbers({ numbers }: ServiceState): Row {
  const stored = [...numbers.values()].map((number): StoredNumber => ({
    ...number,
    sealedToken: number.sealedToken?.toString('base64') ?? null,
  }));
  return { kind: 'numbers', key: 'numbers', text: JSON.stringify(stored) };
}

export function writeBatches({ batches }: ServiceState): Row[] {
  return [...batches.values()].map((batch) => ({
    kind: 'batch',
    key: batch.batchId,
    text: JSON.stringify(saveBatch(batch)),
  }));
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
  const readEach = (wanted: string, read: (text: string, key: string) => void): void => {
    for (const { kind, key, text } of rows) {
      if (kind !== wanted) continue;
      try {
        read(text ?? '', key);
      } catch {
        unreadable.push({ kind, key });
      }
    }
  };
  const versions = new Map<string, Agent>();
  const agents: ServiceImage['agents'] = [];
  const counters: ServiceImage['counters'] = [];
  let numbers: StoredNumber[] = [];
  const batches: SavedBatch[] = [];
  const calls: { accepted: number | null; recorded: number | null; call: ServiceImage['calls'][number] }[] = [];
  readEach('version', (text, key) => versions.set(key, JSON.parse(text) as Agent));
  readEach('agent', (text, key) => (agents[Number(key)] = readAgentRow(text)));
  readEach('batch', (text) => batches.push(readObject(text) as SavedBatch));
  readEach('counter', (text, key) => counters.push([key, readCount(text)]));
  readEach('numbers', (text) => (numbers = JSON.parse(text) as StoredNumber[]));
  readEach('call', (text) => {
    const stored = readObject(text) as { accepted: number | null; recorded: number | null; call: CallDocument };
    callDocument.parse(stored.call);
    calls.push({ ...stored, call: readCall(stored.call, versions) });
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
      // Without the holes that rows which cannot be read have left.
      agents: agents.filter(() => true),
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
