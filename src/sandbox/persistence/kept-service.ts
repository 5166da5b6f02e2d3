import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceClock } from '../core/clock/clock.ts';
import { Service, type Storage } from '../core/service/service.ts';
import { type SandboxOptions, type SandboxSettings, SandboxStartError } from '../core/settings/settings.ts';
import { restoreState, takeState, type StateDocument } from './state.ts';
import type { StateFile } from './state-file.ts';

/** Real ms before a background change is written, at least `idleShare` times the last write's duration. */
const idleWriteMs = 50;
const idleShare = 10;
/** Real ms between recordings of the time while the clock runs. */
const noteTimeEveryMs = 1_000;
/** Most real ms of service time shown since the last recording. */
const unrecordedRealMs = 2_000;

/** `install` runs before a restore; `closeFile` writes the rest. Throws `SandboxStartError`. */
export async function openService<Installed>(
  settings: SandboxSettings,
  { clock, epochMs }: Pick<SandboxOptions, 'clock' | 'epochMs'>,
  install: (service: Service) => Installed,
): Promise<{ service: Service; installed: Installed; closeFile: () => void }> {
  const make = (startMs: number | undefined) => {
    const speed = clock === 'manual' ? 0 : settings.speed;
    const service = new Service(settings, typeof clock === 'object' ? clock : new ServiceClock({ speed, epochMs: startMs }));
    return { service, installed: install(service) };
  };
  if (settings.data === null) return { ...make(epochMs), closeFile: () => {} };
  const { StateFile } = await import('./state-file.ts');
  const file = new StateFile(settings.data);
  try {
    const stored = file.found as Stored | null;
    if (stored !== null && stored.seed !== settings.seed)
      throw new SandboxStartError(
        `${file.path} was made with the seed "${stored.seed}", and what was said in its calls follows from that. Start with --seed ${stored.seed}, or choose another --data file.`,
      );
    // Not before any time that clients have seen.
    const shownMs = unrecordedRealMs + Math.max(0, file.touchedAt - (stored?.written_at ?? 0));
    if (stored !== null) stored.now += shownMs * stored.speed;
    const made = make(stored === null ? epochMs : Math.max(epochMs ?? Date.now(), stored.now));
    const keeper = new Keeper(made.service, file);
    made.service.storage = keeper;
    if (stored !== null) {
      const [fresh, given] = [takeState(made.service), textsGiven(settings)];
      for (const name of givenAtStart) if (stored.given[name] !== given[name]) Object.assign(stored, { [name]: fresh[name] });
      restoreState(made.service, stored);
    }
    await keeper.flush();
    return { ...made, closeFile: () => keeper.close() };
  } catch (error) {
    file.close();
    throw error;
  }
}

const givenAtStart = ['faults', 'world'] as const;

function textsGiven({ faults, world }: SandboxSettings): Record<string, string> {
  const given = { faults, world } satisfies Record<(typeof givenAtStart)[number], unknown>;
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, JSON.stringify(value)]));
}

interface Stored extends StateDocument {
  /** Service ms per real ms at writing time. */
  speed: number;
  /** By the machine's clock. */
  written_at: number;
  given: Record<string, string>;
}

/** Writes the whole state. A failed write fails the answer that waits for it. */
class Keeper implements Storage {
  readonly #service: Service;
  readonly #file: StateFile;
  readonly #timer: NodeJS.Timeout;
  #flushing: Promise<void> | null = null;
  #idle: NodeJS.Timeout | undefined;
  #lastWriteMs = 0;
  #closed = false;

  constructor(service: Service, file: StateFile) {
    this.#service = service;
    this.#file = file;
    service.callListeners.add(() => this.#wake());
    this.#timer = setInterval(() => {
      if (service.clock.speed > 0) file.touch();
    }, noteTimeEveryMs).unref();
  }

  get path(): string {
    return this.#file.path;
  }

  flush(): Promise<void> {
    this.#flushing ??= nextTurn().then(() => {
      this.#flushing = null;
      if (!this.#closed) this.#write();
    });
    return this.#flushing;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#idle);
    this.#write();
    this.#file.close();
  }

  #wake(): void {
    if (this.#idle !== undefined || this.#closed) return;
    const waitMs = Math.max(idleWriteMs, idleShare * this.#lastWriteMs);
    this.#idle = setTimeout(() => {
      this.#idle = undefined;
      // Nothing waits for this write, so a failure is reported as a warning.
      this.flush().catch((error: unknown) => process.emitWarning(error instanceof Error ? error : String(error)));
    }, waitMs).unref();
  }

  #write(): void {
    const startedAt = performance.now();
    const { settings, clock } = this.#service;
    const state = takeState(this.#service);
    const stored: Stored = { ...state, speed: clock.speed, written_at: Date.now(), given: textsGiven(settings) };
    this.#file.write(JSON.stringify(stored));
    this.#lastWriteMs = performance.now() - startedAt;
  }
}
