import { ServiceClock, type Clock } from '../core/clock/clock.ts';
import { Service } from '../core/service/service.ts';
import type { SandboxOptions, SandboxSettings } from '../core/settings/settings.ts';
import { SandboxStartError } from '../core/start-error.ts';
import type { DataFile } from './data-file.ts';
import { restoreImage } from './service-image.ts';
import { readRows, startSettings, type StoredState } from './stored-rows.ts';
import { WriteBehind } from './write-behind.ts';

/** Real milliseconds of service time that may have been told since the time was last noted in the file. */
const untoldRealMs = 2_000;

export interface StoredService<Installed> {
  service: Service;
  installed: Installed;
  /** Writes what is left and lets go of the file; without a file there is nothing to do. */
  closeFile: () => void;
  /** Rows of the file that could not be read, such as `call call_1`; they are kept in it, and the service runs without them. */
  leftOut: readonly string[];
}

/**
 * The service as its settings want it: fresh and in memory, or as its data file has it. `install` adds features to it before anything
 * is restored. Throws `SandboxStartError` when the file cannot be used.
 */
export async function openService<Installed>(
  settings: SandboxSettings,
  { clock, epochMs }: Pick<SandboxOptions, 'clock' | 'epochMs'>,
  install: (service: Service) => Installed,
): Promise<StoredService<Installed>> {
  if (settings.data === null) {
    const service = new Service(settings, makeClock(settings, clock, epochMs));
    return { service, installed: install(service), closeFile: () => {}, leftOut: [] };
  }
  const { DataFile } = await import('./data-file.ts');
  const file = DataFile.open(settings.data);
  try {
    const stored = readStored(file, settings.seed);
    const resumed = stored === null ? undefined : Math.max(epochMs ?? Date.now(), earliestNow(stored));
    const service = new Service(settings, makeClock(settings, clock, resumed ?? epochMs));
    const installed = install(service);
    const writer = new WriteBehind(service, file);
    service.storage = writer;
    const unreadable = stored?.unreadable ?? [];
    if (stored !== null) restoreStored(service, stored);
    // Before anything is written in their place.
    if (unreadable.length > 0) file.putAside(unreadable);
    await writer.flush();
    const leftOut = unreadable.map(({ kind, key }) => `${kind} ${key}`);
    return { service, installed, closeFile: () => writer.close(), leftOut };
  } catch (error) {
    file.close();
    throw error;
  }
}

function makeClock(settings: SandboxSettings, given: SandboxOptions['clock'], epochMs: number | undefined): Clock {
  if (typeof given === 'object') return given;
  return new ServiceClock({ speed: given === 'manual' ? 0 : settings.speed, epochMs });
}

/** No earlier than anything that callers have been told. */
function earliestNow({ image, speed }: StoredState): number {
  return image.now + untoldRealMs * speed;
}

/** What can be given at start comes from the file only where the start gives the same as before. */
function restoreStored(service: Service, { image, given }: StoredState): void {
  const { settings, faults } = service;
  const now = startSettings(settings);
  restoreImage(service, {
    ...image,
    faults: given.faults === now.faults ? image.faults : faults.save(),
    world: given.world === now.world ? image.world : settings.world,
    unavailableModels:
      given.unavailableModels === now.unavailableModels ? image.unavailableModels : [...settings.unavailableModels],
  });
}

function readStored(file: DataFile, seed: string): StoredState | null {
  let stored: StoredState | null;
  try {
    stored = readRows(file.read());
  } catch (error) {
    throw new SandboxStartError(
      `${file.path} is damaged: not all of it can be read. It is left as it is: put a copy back, or choose another --data file.`,
      { cause: error },
    );
  }
  if (stored === null || stored.seed === seed) return stored;
  throw new SandboxStartError(
    `${file.path} was made with the seed "${stored.seed}", and what was said in its calls follows from that. Start with --seed ${stored.seed}, or choose another --data file.`,
  );
}
