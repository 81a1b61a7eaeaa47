// ·inAssembly is read here.
