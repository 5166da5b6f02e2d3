import type { FastifyInstance } from 'fastify';
import { announceChanges } from '../http/announce-changes.ts';
import type { Service } from '../core/service/service.ts';
import { guardControl } from '../http/access.ts';
import type { ControlRoute } from '../http/control-about.ts';
import { controlCalls } from './calls.ts';
import { controlClock } from './clock.ts';
import { controlIndex } from './control-index.ts';
import { controlEvents } from './events.ts';
import { controlFaults } from './faults.ts';
import { controlFixture } from './fixture.ts';
import { controlGates } from './gates.ts';
import { controlIdle } from './idle.ts';
import { controlInfo } from './info.ts';
import { controlModelAvailability } from './model-availability.ts';
import { controlJournal } from './journal.ts';
import { controlModels } from './models.ts';
import { controlNumbers } from './numbers.ts';
import { controlPeople } from './people.ts';
import { controlRecords } from './records.ts';
import { controlSipTrunks } from './sip-trunks.ts';
import { controlTelephony } from './telephony.ts';
import { controlWorld } from './world.ts';

/**
 * The sandbox's own interface, under /_sandbox: no API key, not in the journal, not part of the service. Returns the list of controls,
 * which goes on growing.
 */
export function installControl(app: FastifyInstance, service: Service): readonly ControlRoute[] {
  guardControl(app, service.settings);
  announceChanges(app, service);
  const routes = controlIndex(app);
  controlInfo(app, service);
  controlClock(app, service);
  controlIdle(app, service);
  controlEvents(app, service);
  controlCalls(app, service);
  controlNumbers(app, service);
  controlModels(app);
  controlSipTrunks(app, service);
  controlTelephony(app, service);
  controlRecords(app, service);
  controlJournal(app, service);
  controlWorld(app, service);
  controlPeople(app, service);
  controlModelAvailability(app, service);
  controlFaults(app, service);
  controlFixture(app, service);
  controlGates(app, service);
  return routes;
}
