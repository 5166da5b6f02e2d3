import { figure } from '../../../presentation/html/elements.ts';
import type { Html } from '../../../presentation/html/html.ts';
import type { CallsTo } from '../../../ledger/read/calls-to.ts';

/** What an entry of the do-not-call list stops, and what it does not, as facts. */
export function callFacts({ waiting, planned, open }: CallsTo): [string, Html][] {
  return [
    ['Rows that wait for a call, in all campaigns', figure(waiting)],
    ['Planned calls that are stopped', figure(planned)],
    ['Open calls that go on', figure(open)],
  ];
}
