/**
 * Thrown when the state of a campaign rules out what was asked for; nothing was changed. `remedy`: what helps, which the command line turns
 * into a command.
 */
export class WrongStateError extends Error {
  override readonly name = 'WrongStateError' as const;
  readonly isBadInput = true;
  readonly remedy: { kind: string; campaignId: string } | null;

  constructor(message: string, remedy: WrongStateError['remedy'] = null) {
    super(message);
    this.remedy = remedy;
  }
}
