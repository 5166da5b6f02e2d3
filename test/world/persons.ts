import { addSuppressions } from '../../src/ledger/rows/suppressions.ts';
import { findCampaign, resumeCampaign } from '../../src/ledger/rows/campaigns.ts';
import { goOnFromPilot } from '../../src/ledger/limits/pilot.ts';
import { RecipientEditor } from '../../src/ledger/people/edit-recipients.ts';
import type { Store } from '../../src/ledger/tx.ts';
import type { Random } from '../../src/sandbox/core/random.ts';
import type { CampaignLoop, Stage } from './campaign-loop.ts';
import type { Change, Deed, Hands, Mix } from './mix.ts';

type Beside = NonNullable<NonNullable<Parameters<typeof resumeCampaign>[2]>['beside']>;

/** So often a campaign that pauses is resumed; then it is cancelled. */
const mostResumes = 30;

interface Scene {
  mix: Mix;
  stage: Stage;
  loops: readonly CampaignLoop[];
  random: Random;
  store: () => Store;
}

export class Persons {
  readonly deeds: Deed[] = [];
  readonly resumes = new Map<CampaignLoop, number>();
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  get #now(): number {
    return this.#scene.stage.clock.now();
  }

  #loopAt(index: number): CampaignLoop {
    const loop = this.#scene.loops[index];
    if (loop === undefined) throw new Error(`no campaign ${index}`);
    return loop;
  }

  readonly hands: Hands = {
    change: (index, change) => this.#change(this.#loopAt(index), change),
    callSample: async (index) => {
      const loop = this.#loopAt(index);
      const now = this.#now;
      const beside: Beside = (tx, stored) => goOnFromPilot(tx, stored, { now, again: true });
      await resumeCampaign(this.#scene.store(), { campaignId: loop.campaignId, now }, { beside });
      loop.planBy(this.#now);
    },
    add: async (index, rows) => {
      const loop = this.#loopAt(index);
      const options = { campaignId: loop.campaignId, restore: false, dryRun: false, adds: true } as const;
      const editor = new RecipientEditor(this.#scene.store(), options);
      const now = this.#now;
      const answers = [...(await editor.apply(rows, now)), ...(await editor.finish(now))];
      loop.planBy(now);
      return answers;
    },
    suppress: async (e164, scope = 'account') => {
      const now = this.#now;
      if (scope === 'account') this.deeds.push({ at: now, of: e164, change: 'suppress' });
      await addSuppressions(this.#scene.store(), [{ e164, scope, source: 'cli', reason: null, expiresAt: null }], now);
    },
  };

  async resumePaused(): Promise<void> {
    const { mix, loops, random, store, stage } = this.#scene;
    if (mix.leavesPaused === true) return;
    for (const loop of loops) {
      const { campaignId } = loop;
      const stored = await findCampaign(store().db, campaignId);
      if (stored?.state !== 'paused' || !random.chance(0.3)) continue;
      const lastAt = this.deeds.findLast(({ of, change }) => of === campaignId && change === 'pause')?.at ?? -Infinity;
      if (this.#now < lastAt + (mix.resumeAfterMs ?? 0)) continue;
      const resumes = (this.resumes.get(loop) ?? 0) + 1;
      this.resumes.set(loop, resumes);
      stage.note(`${campaignId} is paused: ${stored.stateReason}`);
      await this.#change(loop, resumes > mostResumes ? 'cancel' : 'resume');
    }
  }

  async #change(loop: CampaignLoop, change: Change): Promise<void> {
    const { campaignId } = loop;
    const { stage } = this.#scene;
    const done = await stage.attempt(change, ({ activities }) => activities.changeState({ campaignId, change }));
    if ('result' in done) this.deeds.push({ at: this.#now, of: campaignId, change });
    stage.note(`${campaignId}: ${change}`);
    loop.planBy(this.#now);
  }
}
