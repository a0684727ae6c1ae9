export const planValidators = async (_model: unknown): Promise<Map<string, string>> => new Map();
