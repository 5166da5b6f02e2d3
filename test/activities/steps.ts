import { ApplicationFailure } from '@temporalio/common';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { createActivities, type Activities } from '../../activities/index.ts';
import { sweepAgent, type SweepResult } from '../../activities/sweep.ts';
import { findCampaign, type Campaign } from '../../src/ledger/rows/campaigns.ts';
import type { Store } from '../../src/ledger/tx.ts';
import { createConvaiClient, type ConvaiClient } from '../../src/service/convai/client.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { connectionTo } from '../support/activity-dependencies.ts';

export const campaignId = 'spring';

/** Every call is answered. */
export const everybody = { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 0 };

export function connectClient(...to: Parameters<typeof connectionTo>): ConvaiClient {
  const client = createConvaiClient(connectionTo(...to));
  onTestFinished(() => client.close());
  return client;
}

export function keepLog() {
  const lines: string[] = [];
  const logger = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) });
  return { logger, read: () => lines.join('') };
}

export class Steps {
  readonly store: Store;
  readonly activities: Activities;
  readonly #deps: ActivityDependencies;

  constructor(deps: ActivityDependencies) {
    [this.#deps, this.store, this.activities] = [deps, deps.store, createActivities(deps)];
  }

  async campaign(): Promise<Campaign> {
    const campaign = await findCampaign(this.store.db, campaignId);
    if (campaign === undefined) throw new Error('the campaign has gone');
    return campaign;
  }

  plan(n: number) {
    return this.activities.plan({ campaignId, round: 1, batchNumber: n });
  }

  /** Its state, or the failure that says what it waits for and how long. */
  async submit(n: number): Promise<string | ApplicationFailure> {
    try {
      const result = await this.activities.submit({ batchId: `${campaignId}/1/${n}` });
      return result.kind === 'verdict' ? result.state : result.kind;
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
      return error;
    }
  }

  /** Plans batch n if needed and submits it: its state, or what it waits for. */
  async dial(n: number): Promise<string> {
    await this.plan(n);
    const said = await this.submit(n);
    return typeof said === 'string' ? said : `${said.type}: ${said.message}`;
  }

  async sweep(): Promise<SweepResult> {
    const { timing, agentId } = (await this.campaign()).rules;
    return sweepAgent(this.#deps, await this.#deps.serviceClock(), { agentId, timing, onProgress: () => {} });
  }

  async violations() {
    return (await verifyLog(this.store.db, null)).rules.flatMap(({ violations }) => violations);
  }
}
