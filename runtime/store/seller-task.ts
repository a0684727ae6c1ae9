/** A task of a seller's, as it is kept. */
export interface SellerTaskRow {
  readonly task_id: string;
  readonly principal: string;
  readonly account: string | null;
  readonly tool: string;
  readonly protocol: string;
  /** Version of the release its answers are written in. */
  readonly release: string;
  readonly status: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly completed_at: number | null;
  readonly has_webhook: number;
  readonly context: string | null;
  readonly context_id: string | null;
  readonly request: string | null;
  readonly message: string | null;
  /** JSON of the last interim data. */
  readonly progress: string | null;
  /** JSON of the final data. */
  readonly result: string | null;
  /** What the task made, such as a media buy. */
  readonly resource: string | null;
  readonly expires: number;
  /** Which run of work after its answer has it, while one goes on. */
  readonly worker: string | null;
  /** Until when, unix milliseconds by the database's clock, unless it is renewed. */
  readonly held_until: number | null;
  /** How often such work was taken up by another process. */
  readonly resumptions: number;
}
