import { deriveId } from '../core/random.ts';
import type { Service } from '../core/service/service.ts';
import { conflict } from '../core/service-error.ts';
import { takeImage, type ServiceImage } from './service-image.ts';

export interface Snapshot {
  snapshotId: string;
  name: string | null;
  image: ServiceImage;
}

const most = 20;

/** States to come back to. They live in memory, through resets too, and end with the sandbox. */
export class Snapshots {
  readonly #snapshots = new Map<string, Snapshot>();
  #taken = 0;

  /** Throws 409 when there are twenty already. */
  take(service: Service, name: string | null): Snapshot {
    if (this.#snapshots.size >= most) {
      const message = `There are ${most} snapshots already; each is a whole state in memory. Delete one first.`;
      throw conflict('too_many_snapshots', message);
    }
    const snapshotId = deriveId('snapshot', service.settings.seed, (this.#taken += 1));
    const snapshot = { snapshotId, name, image: takeImage(service) };
    this.#snapshots.set(snapshotId, snapshot);
    return snapshot;
  }

  list(): Snapshot[] {
    return [...this.#snapshots.values()];
  }

  get(snapshotId: string): Snapshot | undefined {
    return this.#snapshots.get(snapshotId);
  }

  delete(snapshotId: string): boolean {
    return this.#snapshots.delete(snapshotId);
  }
}
