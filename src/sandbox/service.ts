import type { Clock } from './clock.ts';
import { FaultBook } from './faults/fault-book.ts';
import { Gates } from './gates.ts';
import { ConductJudge } from './judge/conduct.ts';
import { Journal } from './judge/journal.ts';
import { Scheduler } from './scheduler.ts';
import { createRequestSchemas, type RequestSchemas } from './schemas/request-schemas.ts';
import { seedService } from './seed-data.ts';
import type { SandboxSettings } from './settings.ts';
import { ServiceState } from './state/service-state.ts';
import { PhoneNetwork } from './telephony/phone-network.ts';

/** The service apart from HTTP: its state, its phone network and everything that watches or disturbs them. */
export class Service {
  readonly settings: SandboxSettings;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly schemas: RequestSchemas;
  readonly faults: FaultBook;
  readonly gates: Gates;
  readonly journal = new Journal();
  readonly conduct: ConductJudge;
  state: ServiceState;
  network: PhoneNetwork;
  /** Grows with every reset, so that cursors of before are told apart. */
  generation = 0;

  constructor(settings: SandboxSettings, clock: Clock) {
    this.settings = settings;
    this.clock = clock;
    this.scheduler = new Scheduler(clock);
    this.schemas = createRequestSchemas(
      { dialect: settings.dialect, loose: settings.loose },
      settings.maxCallsPerBatch,
    );
    this.faults = new FaultBook(settings.seed);
    this.gates = new Gates(settings.hooks);
    this.conduct = new ConductJudge(clock, settings.conduct);
    this.faults.add(settings.faults);
    this.state = new ServiceState();
    this.network = new PhoneNetwork(settings, this.scheduler, this.state);
    seedService(this);
  }

  /** Back to how it started: state, calls, journal, conduct, gates, and the fault rules given at start. The clock goes on. */
  reset(): void {
    this.generation += 1;
    this.scheduler.clear();
    this.gates.release();
    this.faults.clear();
    this.faults.add(this.settings.faults);
    this.journal.clear();
    this.conduct.clear();
    this.state = new ServiceState();
    this.network = new PhoneNetwork(this.settings, this.scheduler, this.state);
    seedService(this);
  }

  close(): void {
    this.scheduler.close();
    this.gates.release();
  }
}
