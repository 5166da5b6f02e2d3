import type { Fixture } from '../../fixture/fixture.ts';
import type { UnderWay } from './under-way.ts';

/** Why the state goes on which a feature stands; a replaced one has another put in its place. */
export type Parting = 'reset' | 'replaced' | 'closed';

/** What the core tells a feature that was added to it. */
export interface Feature {
  /** The state is about to go: what hangs on it ends now. */
  leave(why: Parting): void;
  /** A conversation was deleted. */
  forget?(conversationId: string): void;
  /** Takes its part of a fixture that is loaded while the sandbox runs. */
  load?(fixture: Fixture): void;
  /** What of it has to come to its end before nothing happens by itself any more. */
  underWay?(): Partial<UnderWay>;
}
