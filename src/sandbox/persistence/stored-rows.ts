import type { Service } from '../service.ts';
import type { SandboxSettings } from '../settings.ts';
import type { Agent, PhoneNumber } from '../state/agent.ts';
import type { ServiceState } from '../state/service-state.ts';
import { readCall, type CallDocument } from './call-document.ts';
import type { Row } from './data-file.ts';
import { saveBatch, type SavedBatch, type ServiceImage } from './service-image.ts';

/** What is in the row `main`. */
interface MainRow extends Pick<
  ServiceImage,
  'now' | 'ranUntil' | 'generation' | 'sipTrunks' | 'nextCourses' | 'faults' | 'unavailableModels' | 'world'
> {
  seed: string;
  /** Service milliseconds per real millisecond when it was written. */
  speed: number;
  given: StartSettings;
}

/** What was given at start and may change afterwards: a start that gives something else begins with that. */
export type StartSettings = Record<'faults' | 'world' | 'unavailableModels', string>;

type StoredNumber = Omit<PhoneNumber, 'sealedToken'> & { sealedToken: string | null };

export interface StoredState extends Pick<MainRow, 'seed' | 'speed' | 'given'> {
  image: ServiceImage;
}

export function startSettings({ faults, world, unavailableModels }: SandboxSettings): StartSettings {
  const text = (value: unknown): string => JSON.stringify(value);
  return { faults: text(faults), world: text(world), unavailableModels: text(unavailableModels) };
}

export function writeMain(service: Service): Row {
  const { settings, clock, scheduler, generation, state, faults } = service;
  const main: MainRow = {
    seed: settings.seed,
    speed: clock.speed,
    now: clock.now(),
    ranUntil: scheduler.ranUntil,
    generation,
    sipTrunks: [...state.sipTrunks.values()],
    nextCourses: [...state.nextCourses],
    faults: faults.save(),
    unavailableModels: [...service.unavailableModels],
    world: service.people.world,
    given: startSettings(settings),
  };
  return { kind: 'main', key: 'main', text: JSON.stringify(main) };
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

/** The state as its rows have it; null when none was written yet. */
export function readRows(rows: readonly Row[]): StoredState | null {
  const mainText = rows.find(({ kind }) => kind === 'main')?.text;
  if (mainText === undefined) return null;
  const main = JSON.parse(mainText) as MainRow;
  const versions = new Map<string, Agent>();
  for (const { kind, key, text } of rows) if (kind === 'version') versions.set(key, JSON.parse(text) as Agent);
  const agents: ServiceImage['agents'] = [];
  const counters: ServiceImage['counters'] = [];
  let numbers: StoredNumber[] = [];
  const batches: SavedBatch[] = [];
  const calls: { accepted: number | null; recorded: number | null; call: ServiceImage['calls'][number] }[] = [];
  for (const { kind, key, text } of rows) {
    if (kind === 'agent') agents[Number(key)] = JSON.parse(text) as ServiceImage['agents'][number];
    else if (kind === 'batch') batches.push(JSON.parse(text) as SavedBatch);
    else if (kind === 'counter') counters.push([key, Number(text)]);
    else if (kind === 'numbers') numbers = JSON.parse(text) as StoredNumber[];
    else if (kind === 'call') {
      const stored = JSON.parse(text) as { accepted: number | null; recorded: number | null; call: CallDocument };
      calls.push({ ...stored, call: readCall(stored.call, versions) });
    }
  }
  const { seed, speed, given, ...rest } = main;
  return {
    seed,
    speed,
    given,
    image: {
      ...rest,
      agents,
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
