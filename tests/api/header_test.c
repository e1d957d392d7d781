/* <zellige/api.h> is C99, and a tensor is DLPack's, byte by byte. */
#include <zellige/api.h>

typedef char size_is_48[sizeof(zellige_tensor) == 48 ? 1 : -1];
typedef char dtype_at_20[offsetof(zellige_tensor, dtype_code) == 20 ? 1 : -1];
typedef char shape_at_24[offsetof(zellige_tensor, shape) == 24 ? 1 : -1];
typedef char offset_at_40[offsetof(zellige_tensor, byte_offset) == 40 ? 1 : -1];

/* A cost grows at its end alone. */
typedef char us_at_8[offsetof(zellige_cost, us) == 8 ? 1 : -1];
typedef char workspace_at_32[offsetof(zellige_cost, workspace) == 32 ? 1 : -1];
