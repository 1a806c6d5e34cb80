/* The Gaussian kernel exp(−γ‖x − y‖²), and the steps of all kernels that decay like this. */
#include "columns/kernels.h"
#include "columns/vector.h"

void ny_kernel_decay32(const struct ny_pointwise *how, float x_norm, float *values, size_t count)
{
    ny_vector()->pointwise->exponential(how, x_norm, values, count);
}

void ny_kernel_decay(const struct ny_kernel_params *params, double x_norm, const double *y_norms,
                     double *values, size_t count)
{
    (void)x_norm;
    (void)y_norms;
    ny_vector()->pointwise->exponential64(params->gamma, values, count);
}

double ny_kernel_inverse(double median, size_t d)
{
    (void)d;
    return 1 / median;
}

const struct ny_param ny_param_gamma = {
    .name = "gamma",
    .kind = NY_WIDTH,
    .argument = "G|auto",
    .fallback = "auto",
    .of_all = true,
    .summary = "kernel width; a larger G is narrower. A length scale S is G = 1/(2 S^2). auto: "
               "1/median of |x-y|^2 over pairs of rows "
               "(rbf, matern, rational-quadratic), 1/median of the 1-norm (laplacian), 1/columns "
               "(polynomial); other kernels have no width",
    .gives = offsetof(struct ny_kernel_params, gamma),
};

static const struct ny_param *const params[] = {&ny_param_gamma, NULL};

const struct ny_kernel ny_kernel_rbf = {
    .name = "rbf",
    .summary = "exp(-gamma |x-y|^2)",
    .base = NY_BASE_SQUARE,
    .params = params,
    .constant_diagonal = true,
    .apply32 = ny_kernel_decay32,
    .can_minus_one = true,
    .apply = ny_kernel_decay,
    .auto_gamma = ny_kernel_inverse,
};
