/** What the published types of outbound campaigns leave open, by default as they say at least. Milliseconds are service time. */
export const defaultCampaignSettings = {
  /** For how long a repeat is known by its key or its body; null for ever, 0 not at all. After that it makes another campaign. */
  keyKeptMs: null as number | null,
  /** What a known key with another body is answered: the campaign that it made, or 409. */
  otherBody: 'existing' as 'existing' | 'conflict',
  /** `ignored`: calls are dialled at once, whatever `scheduled_time_unix` says. */
  schedule: 'kept' as 'kept' | 'ignored',
  /** `too_late`: what waits for its time when its campaign is stopped is dialled all the same. */
  stopOfScheduled: 'dials_nobody' as 'dials_nobody' | 'too_late',
  /** How late the list shows a new campaign. */
  listLagMs: 0,
  /** How late calls, leads and progress show what has happened. */
  reportLagMs: 0,
  /** Where a recipient's own id comes back: `everywhere` is in records too. */
  recipientIds: 'leads' as 'leads' | 'everywhere' | 'nowhere',
};

export type CampaignSettings = typeof defaultCampaignSettings;
